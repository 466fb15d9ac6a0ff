/* Records every write, truncation and sync of files whose path begins with RECORD_UNDER, in the
 * order in which they happen, into RECORD_LOG. Preloaded into a process under test.
 *
 * A record is: kind (u8), length of the path (u32), offset (u64), length of the data (u32), path,
 * data; numbers as this machine has them. Kinds: w write, t truncate (offset is the size), s sync,
 * u unlink, r rename (data is the new path), a acknowledge (what is written to the file called "acknowledged").
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static ssize_t write_out(const void *data, size_t length) {
    REAL(write);
    return real(log_fd, data, length);
}

static void record(char kind, const char *path, uint64_t offset, const void *data, uint32_t length) {
    const char *under = getenv("RECORD_UNDER");
    if (!under || strncmp(path, under, strlen(under)) != 0) return;
    pthread_mutex_lock(&lock);
    if (log_fd < 0) log_fd = open(getenv("RECORD_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    uint32_t path_length = strlen(path);
    write_out(&kind, 1);
    write_out(&path_length, 4);
    write_out(&offset, 8);
    write_out(&length, 4);
    write_out(path, path_length);
    if (length) write_out(data, length);
    pthread_mutex_unlock(&lock);
}

static const char *path_of(int fd, char *buffer) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, buffer, 4095);
    buffer[length < 0 ? 0 : length] = 0;
    return buffer;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
    REAL(pwrite);
    char path[4096];
    ssize_t done = real(fd, data, length, offset);
    if (done > 0) record('w', path_of(fd, path), offset, data, done);
    return done;
}

ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) {
    REAL(pwrite64);
    char path[4096];
    ssize_t done = real(fd, data, length, offset);
    if (done > 0) record('w', path_of(fd, path), offset, data, done);
    return done;
}

ssize_t write(int fd, const void *data, size_t length) {
    REAL(write);
    char path[4096];
    ssize_t done = real(fd, data, length);
    if (done > 0 && fd > 2) {
        const char *name = strrchr(path_of(fd, path), '/');
        if (name && strcmp(name, "/acknowledged") == 0) record('a', path, 0, data, done);
    }
    return done;
}

int ftruncate64(int fd, off64_t size) {
    REAL(ftruncate64);
    char path[4096];
    int done = real(fd, size);
    if (done == 0) record('t', path_of(fd, path), size, NULL, 0);
    return done;
}

int ftruncate(int fd, off_t size) {
    REAL(ftruncate);
    char path[4096];
    int done = real(fd, size);
    if (done == 0) record('t', path_of(fd, path), size, NULL, 0);
    return done;
}

int fsync(int fd) {
    REAL(fsync);
    char path[4096];
    int done = real(fd);
    if (done == 0) record('s', path_of(fd, path), 0, NULL, 0);
    return done;
}

int fdatasync(int fd) {
    REAL(fdatasync);
    char path[4096];
    int done = real(fd);
    if (done == 0) record('s', path_of(fd, path), 0, NULL, 0);
    return done;
}

int rename(const char *from, const char *to) {
    REAL(rename);
    int done = real(from, to);
    if (done == 0) record('r', from, 0, to, strlen(to));
    return done;
}

int unlink(const char *path) {
    REAL(unlink);
    int done = real(path);
    if (done == 0) record('u', path, 0, NULL, 0);
    return done;
}
