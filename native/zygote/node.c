/*
 * The zygote's functions as an addon of Node: those that Bun calls through bun:ffi, and those for V8. It declares the few
 * functions of Node-API that it calls: the interface is stable, and the build needs no headers of Node.
 */
#include "fork_guests.h"
#include "javascript.h"
#include "v8-random.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

typedef struct napi_env__ *napi_env;
typedef struct napi_value__ *napi_value;
typedef struct napi_callback_info__ *napi_callback_info;
typedef napi_value (*napi_callback)(napi_env env, napi_callback_info info);

/* Absent in programs other than Node that load this library. */
#define OF_NODE extern __attribute__((weak))
OF_NODE int napi_create_function(napi_env, const char *, size_t, napi_callback, void *, napi_value *);
OF_NODE int napi_set_named_property(napi_env, napi_value, const char *, napi_value);
OF_NODE int napi_create_double(napi_env, double, napi_value *);
OF_NODE int napi_create_string_utf8(napi_env, const char *, size_t, napi_value *);
OF_NODE int napi_create_array(napi_env, napi_value *);
OF_NODE int napi_set_element(napi_env, napi_value, uint32_t, napi_value);
OF_NODE int napi_get_cb_info(napi_env, napi_callback_info, size_t *, napi_value *, napi_value *, void **);
OF_NODE int napi_get_value_int32(napi_env, napi_value, int32_t *);
OF_NODE int napi_get_value_double(napi_env, napi_value, double *);
OF_NODE int napi_get_element(napi_env, napi_value, uint32_t, napi_value *);
OF_NODE int napi_get_null(napi_env, napi_value *);

EXPORTED napi_value napi_register_module_v1(napi_env env, napi_value exports);

enum { WHOLE_TEXT = -1 };

static napi_value number(napi_env env, double value) {
  napi_value result = NULL;
  napi_create_double(env, value, &result);
  return result;
}

static napi_value text(napi_env env, const char *value) {
  napi_value result = NULL;
  napi_create_string_utf8(env, value, (size_t)WHOLE_TEXT, &result);
  return result;
}

static napi_value first_argument(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument = NULL;
  napi_get_cb_info(env, info, &count, &argument, NULL, NULL);
  return argument;
}

static int32_t int_argument(napi_env env, napi_callback_info info) {
  int32_t value = -1;
  napi_get_value_int32(env, first_argument(env, info), &value);
  return value;
}

static napi_value serve(napi_env env, napi_callback_info info) { return text(env, engine_serve(int_argument(env, info))); }

static napi_value process_id(napi_env env, napi_callback_info info) {
  (void)info;
  return number(env, engine_process_id());
}

static napi_value await_request(napi_env env, napi_callback_info info) {
  (void)env;
  (void)info;
  engine_await_request();
  return NULL;
}

static napi_value open_sample_channel(napi_env env, napi_callback_info info) {
  (void)info;
  return number(env, engine_open_sample_channel());
}

static napi_value close_sample_channel(napi_env env, napi_callback_info info) {
  return number(env, engine_close_sample_channel(int_argument(env, info)));
}

/* `NAME=value` each, or null if they are those that the zygote was started with. */
static napi_value environment(napi_env env, napi_callback_info info) {
  (void)info;
  napi_value entries = NULL;
  if (!engine_has_new_variables()) {
    napi_get_null(env, &entries);
    return entries;
  }
  napi_create_array(env, &entries);
  const char *entry;
  for (int index = 0; (entry = engine_variable(index)); index++)
    napi_set_element(env, entries, (uint32_t)index, text(env, entry));
  return entries;
}

/* ---- random numbers ---- */

enum { SEED_BYTES = 48 };
typedef void add_randomness(const void *bytes, int count, double entropy_bytes);

/* OpenSSL detects a fork by its process id, but forks in different spaces may have the same id. False if that failed. */
static bool reseed_openssl(void) {
  static add_randomness *add;
  if (!add) *(void **)&add = dlsym(RTLD_DEFAULT, "RAND_add");
  uint8_t bytes[SEED_BYTES];
  if (!add || getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return false;
  add(bytes, sizeof bytes, sizeof bytes);
  explicit_bzero(bytes, sizeof bytes);
  return true;
}

/* Whether every known generator now has a state of its own. */
static napi_value renew_randomness(napi_env env, napi_callback_info info) {
  (void)info;
  return number(env, reseed_openssl() && renew_generators());
}

/* How many seed generators were found. */
static napi_value find_seeds(napi_env env, napi_callback_info info) {
  (void)info;
  return number(env, find_generators());
}

/* Whether one of them was used since the last call. */
static napi_value seeds_were_drawn(napi_env env, napi_callback_info info) {
  (void)info;
  return number(env, generators_have_drawn());
}

/* Takes the last numbers that Math.random returned. Returns how many more are ready before it is reseeded, or -1. */
static napi_value forget_numbers(napi_env env, napi_callback_info info) {
  napi_value list = first_argument(env, info);
  double drawn[NUMBERS_READY];
  for (uint32_t i = 0; i < NUMBERS_READY; i++) {
    napi_value one = NULL;
    if (napi_get_element(env, list, i, &one) != 0 || napi_get_value_double(env, one, &drawn[i]) != 0) return number(env, -1);
  }
  return number(env, forget_seed(drawn));
}

napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  static const struct {
    const char *name;
    napi_callback call;
  } functions[] = {
      {"serve", serve},
      {"environment", environment},
      {"processId", process_id},
      {"awaitRequest", await_request},
      {"openSampleChannel", open_sample_channel},
      {"closeSampleChannel", close_sample_channel},
      {"renewRandomness", renew_randomness},
      {"findSeeds", find_seeds},
      {"seedsWereDrawn", seeds_were_drawn},
      {"forgetNumbers", forget_numbers},
  };
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    napi_value function = NULL;
    napi_create_function(env, functions[i].name, (size_t)WHOLE_TEXT, functions[i].call, NULL, &function);
    napi_set_named_property(env, exports, functions[i].name, function);
  }
  return exports;
}
