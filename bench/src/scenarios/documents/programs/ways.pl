#!/usr/bin/env perl
# The digest of each file named, as md5sum prints it, got in one of the four ways of the Perl
# document: ways.pl addfile|blksize|map|system FILE...
use strict;
use warnings;
use Digest::MD5;

# Digest::MD5's own loop, with its own buffer.
sub by_addfile {
    my ($name) = @_;
    open(my $file, '<:raw', $name) or die "$name: $!\n";
    return Digest::MD5->new->addfile($file)->hexdigest;
}

# Pieces as large as the file system asks for: 4 KiB nearly everywhere.
sub by_blksize {
    my ($name) = @_;
    open(my $file, '<:raw', $name) or die "$name: $!\n";
    my $piece_bytes = (stat $file)[11];
    my $digest = Digest::MD5->new;
    my $piece;
    while (read($file, $piece, $piece_bytes)) {
        $digest->add($piece);
    }
    return $digest->hexdigest;
}

# The whole file as one mapped scalar.
sub by_map {
    my ($name) = @_;
    File::Map::map_file(my $content, $name, '<');
    return Digest::MD5->new->add($content)->hexdigest;
}

# A process for each file.
sub by_system {
    my ($name) = @_;
    open(my $answer, '-|', 'md5sum', '--', $name) or die "md5sum: $!\n";
    return substr(scalar(<$answer>), 0, 32);
}

my %ways = (addfile => \&by_addfile, blksize => \&by_blksize, map => \&by_map, system => \&by_system);
my $name = shift @ARGV;
my $way = $ways{$name} or die "$name: no such way\n";
require File::Map if $name eq 'map';
print $way->($_), "  $_\n" for @ARGV;
