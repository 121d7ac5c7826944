// SPDX-License-Identifier: Apache-2.0
// Plain C: reads every file below a folder, in the order of the names. cc -O2 read_files.c -o read_files; ./read_files FOLDER
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int by_name(const FTSENT **one, const FTSENT **other) { return strcmp((*one)->fts_name, (*other)->fts_name); }

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: read_files FOLDER\n");
    return 2;
  }
  char *folders[] = {argv[1], NULL};
  FTS *tree = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
  if (tree == NULL) {
    perror(argv[1]);
    return 2;
  }
  static char buffer[1 << 17];
  long files = 0, classes = 0;
  for (FTSENT *entry = fts_read(tree); entry != NULL; entry = fts_read(tree)) {
    classes += entry->fts_info == FTS_D && entry->fts_level == 1;
    if (entry->fts_info != FTS_F) continue;
    const int file = open(entry->fts_path, O_RDONLY);
    ssize_t bytes = file < 0 ? -1 : 1;
    while (bytes > 0) bytes = read(file, buffer, sizeof buffer);
    if (bytes < 0) {
      perror(entry->fts_path);
      return 2;
    }
    close(file);
    ++files;
  }
  fts_close(tree);
  printf("read %ld images of %ld classes\n", files, classes);
  return 0;
}
