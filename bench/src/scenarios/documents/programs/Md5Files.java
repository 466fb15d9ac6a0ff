import java.io.FileInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The digest of each file named, as md5sum prints it: {@code java Md5Files DIGEST read|memory FILE...}.
 *
 * <p>DIGEST is {@code -} for the platform's own MessageDigest, or a class that is one. With {@code read} the files are
 * read piece by piece. With {@code memory} all of them are loaded first, and how long the digests alone took is said
 * on standard error, as the F# document's stopwatch did.
 */
public final class Md5Files {
    private static final int BUFFER_BYTES = 128 * 1024;

    public static void main(String[] arguments) throws Exception {
        MessageDigest digest = digestOf(arguments[0]);
        String[] names = Arrays.copyOfRange(arguments, 2, arguments.length);
        byte[][] digests = arguments[1].equals("memory") ? inMemory(digest, names) : reading(digest, names);
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < names.length; i++) {
            lines.append(HexFormat.of().formatHex(digests[i])).append("  ").append(names[i]).append('\n');
        }
        System.out.print(lines);
    }

    private static MessageDigest digestOf(String name) throws Exception {
        return name.equals("-")
                ? MessageDigest.getInstance("MD5")
                : (MessageDigest) Class.forName(name).getConstructor().newInstance();
    }

    private static byte[][] reading(MessageDigest digest, String[] names) throws IOException {
        byte[] buffer = new byte[BUFFER_BYTES];
        byte[][] digests = new byte[names.length][];
        for (int i = 0; i < names.length; i++) {
            try (FileInputStream file = new FileInputStream(names[i])) {
                for (int bytes; (bytes = file.read(buffer)) > 0; ) {
                    digest.update(buffer, 0, bytes);
                }
            }
            digests[i] = digest.digest();
        }
        return digests;
    }

    private static byte[][] inMemory(MessageDigest digest, String[] names) throws IOException {
        byte[][] contents = new byte[names.length][];
        for (int i = 0; i < names.length; i++) {
            contents[i] = Files.readAllBytes(Path.of(names[i]));
        }
        byte[][] digests = new byte[names.length][];
        long start = System.nanoTime();
        for (int i = 0; i < names.length; i++) {
            digests[i] = digest.digest(contents[i]);
        }
        System.err.printf("seconds %.9f%n", (System.nanoTime() - start) / 1e9);
        return digests;
    }
}
