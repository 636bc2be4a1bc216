// schedule: the inputs of the fuzz targets, for people. Exit status: 0, 1 what was read or written is at fault, 2
// usage.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/schedule/explain.h"
#include "fuzz/schedule/explain_bytes.h"
#include "fuzz/schedule/files.h"
#include "fuzz/schedule/prefix.h"
#include "fuzz/schedule/schedule.h"
#include "fuzz/schedule/text.h"

enum { EXIT_FAULT = 1, EXIT_USAGE = 2 };

static const char usage[] =
    "usage: schedule explain [--target TARGET] FILE...\n"
    "       schedule assemble TEXT -o FILE\n"
    "       schedule disassemble FILE [-o TEXT]\n"
    "Reads and writes the inputs of the fuzz targets; docs/schedules.md describes the encoding and the text language.\n"
    "\n"
    "  explain       prints in words what an input does\n"
    "  assemble      makes a schedule of a text\n"
    "  disassemble   makes a text of a schedule, which assembles to the same schedule\n"
    "\n"
    "  --target TARGET   what the files are inputs of: accept_schedule (also for teardown_schedule and exhaustion; "
    "the\n"
    "                    default), handshake_bytes or request_bytes\n"
    "  -o FILE           where to write; a file that is there is replaced once all is written\n"
    "  -                 as a FILE or TEXT: standard input or output\n"
    "\n"
    "Exit status: 0, or 1 if a file cannot be read, understood or written, or 2 for a wrong command line.\n";

enum target { SCHEDULE, HANDSHAKE_BYTES, REQUEST_BYTES };

static const struct {
  const char *name;
  enum target target;
} targets[] = {{"accept_schedule", SCHEDULE},
               {"teardown_schedule", SCHEDULE},
               {"exhaustion", SCHEDULE},
               {"handshake_bytes", HANDSHAKE_BYTES},
               {"request_bytes", REQUEST_BYTES}};

struct options {
  enum target target;
  bool has_target;
  const char *output;  // NULL if not given
  char **files;        // the arguments that are no options, in their order
  int num_files;
};

static int wrong(const char *what, const char *argument) {
  (void)fprintf(stderr, "schedule: %s%s; schedule --help says what there is\n", what, argument);
  return EXIT_USAGE;
}

static int fault(const struct tg_error *err) {
  (void)fprintf(stderr, "schedule: %s\n", err->text);
  return EXIT_FAULT;
}

// A file of another version, or of something else, decodes all the same; whoever reads the result should know.
static void note_version(const char *path, const struct tg_whole_file *file) {
  if (file->len == 0) {
    (void)fprintf(stderr, "schedule: note: %s is empty, which is a schedule without steps\n", path);
  } else if (file->bytes[0] != TG_SCHEDULE_VERSION) {
    (void)fprintf(stderr, "schedule: note: %s begins with version %u, read as version %u\n", path, file->bytes[0],
                  TG_SCHEDULE_VERSION);
  }
}

static int explain(const struct options *options) {
  for (int i = 0; i < options->num_files; i++) {
    struct tg_whole_file file;
    struct tg_error err;
    if (!tg_whole_file_read(options->files[i], &file, &err)) {
      return fault(&err);
    }
    note_version(options->files[i], &file);
    (void)printf("%s%s\n", i == 0 ? "" : "\n", options->files[i]);
    if (options->target == SCHEDULE) {
      struct tg_schedule schedule;
      tg_schedule_decode(file.bytes, file.len, &schedule);
      tg_schedule_explain(&schedule, stdout);
    } else {
      struct tg_byte_input input;
      tg_byte_input_decode(file.bytes, file.len, &input);
      tg_byte_input_explain(&input, options->target == HANDSHAKE_BYTES, stdout);
    }
    tg_whole_file_free(&file);
  }
  return EXIT_SUCCESS;
}

static int assemble(const struct options *options) {
  struct tg_whole_file text;
  struct tg_error err, problem;
  if (!tg_whole_file_read(options->files[0], &text, &err)) {
    return fault(&err);
  }
  struct tg_schedule schedule;
  const bool ok = tg_schedule_assemble((const char *)text.bytes, text.len, &schedule, &problem);
  tg_whole_file_free(&text);
  if (!ok) {
    tg_error_set(&err, "%.200s: %s", options->files[0], problem.text);
    return fault(&err);
  }
  uint8_t bytes[TG_SCHEDULE_BYTES_MAX];
  return tg_whole_file_write(options->output, bytes, tg_schedule_encode(&schedule, bytes), &err) ? EXIT_SUCCESS
                                                                                                 : fault(&err);
}

static int disassemble(const struct options *options) {
  struct tg_whole_file file;
  struct tg_error err;
  if (!tg_whole_file_read(options->files[0], &file, &err)) {
    return fault(&err);
  }
  note_version(options->files[0], &file);
  struct tg_schedule schedule;
  tg_schedule_decode(file.bytes, file.len, &schedule);
  tg_whole_file_free(&file);
  char *text = NULL;
  size_t len = 0;
  FILE *memory = open_memstream(&text, &len);
  if (memory != NULL) {
    tg_schedule_disassemble(&schedule, memory);
  }
  if (memory == NULL || fclose(memory) != 0) {
    tg_error_set(&err, "out of memory");
    free(text);
    return fault(&err);
  }
  const char *to = options->output == NULL ? "-" : options->output;
  const bool ok = tg_whole_file_write(to, (const uint8_t *)text, len, &err);
  free(text);
  return ok ? EXIT_SUCCESS : fault(&err);
}

static bool find_target(const char *name, enum target *out) {
  for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
    if (strcmp(targets[i].name, name) == 0) {
      *out = targets[i].target;
      return true;
    }
  }
  return false;
}

// Options may stand before, between and after files. Returns 0, or the exit status.
static int read_options(char **argv, struct options *out) {
  *out = (struct options){.files = argv};
  for (char **at = argv; *at != NULL; at++) {
    if (strcmp(*at, "--target") == 0) {
      if (at[1] == NULL || !find_target(at[1], &out->target)) {
        return wrong("--target takes accept_schedule, teardown_schedule, exhaustion, handshake_bytes or request_bytes",
                     "");
      }
      out->has_target = true;
      at++;
    } else if (strcmp(*at, "-o") == 0) {
      if (at[1] == NULL || at[1][0] == '\0' || out->output != NULL) {
        return wrong("-o takes a file, once", "");
      }
      out->output = *++at;
    } else if ((*at)[0] == '-' && (*at)[1] != '\0') {
      return wrong("unknown option ", *at);
    } else {
      out->files[out->num_files++] = *at;
    }
  }
  return out->num_files > 0 ? 0 : wrong("no file", "");
}

// Under `bazel run` the caller's folder is another than the program's.
static bool enter_folder(void) {
  const char *folder = getenv("BUILD_WORKING_DIRECTORY");
  if (folder == NULL || chdir(folder) == 0) {
    return true;
  }
  perror("schedule: the folder that bazel was called in");
  return false;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    return wrong("no command", "");
  }
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--help") == 0) {
      return fputs(usage, stdout) == EOF || fflush(stdout) != 0 ? EXIT_FAULT : EXIT_SUCCESS;
    }
  }
  const bool is_explain = strcmp(argv[1], "explain") == 0, is_assemble = strcmp(argv[1], "assemble") == 0;
  if (!is_explain && !is_assemble && strcmp(argv[1], "disassemble") != 0) {
    return wrong("unknown command ", argv[1]);
  }
  struct options options;
  const int status = read_options(argv + 2, &options);
  if (status != 0) {
    return status;
  }
  if (options.has_target && !is_explain) {
    return wrong("--target is for explain: the raw-byte targets have no text language", "");
  }
  if (options.output != NULL && is_explain) {
    return wrong("-o is for assemble and disassemble", "");
  }
  if (options.output == NULL && is_assemble) {
    return wrong("assemble needs -o FILE", "");
  }
  if (options.num_files > 1 && !is_explain) {
    return wrong("one file at a time, not also ", options.files[1]);
  }
  if (!enter_folder()) {
    return EXIT_FAULT;
  }
  const int result = is_explain ? explain(&options) : is_assemble ? assemble(&options) : disassemble(&options);
  if (result == EXIT_SUCCESS && (fflush(stdout) != 0 || ferror(stdout))) {
    perror("schedule: standard output");
    return EXIT_FAULT;
  }
  return result;
}
