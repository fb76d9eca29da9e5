// The native engine: encoder-decoder Transformers in int8 on CPUs, from token ids to token ids.
//
// Data flow. A model is made from tensors that the caller has mapped (`specdec_model_create`): matrices become int8 with a
// scale per output, packed for the products; embeddings stay mapped in the number format of the file, so the mapping must
// outlive the model. A session (`specdec_session_create`) takes a queue of sources. `specdec_session_next` hands out one decoded
// sentence at a time, in the order in which they finish. Inside, a worker holds up to `batch` rows. Each round of a worker
// drafts, in one pass of the drafter if there is one, verifies all drafts in one pass, accepts, and hands over the rows that ended;
// once a fourth of its rows are free, it encodes waiting sources into them. In beam search a row has several hypotheses, a round is
// one pass over the last tokens of them all, and there are no drafts.
//
// Memory. Packed weights stand in pages of 2 MiB where the system has them (memory.h). A session computes the sizes of all its
// buffers in one place (buffers.c) when it is created, from the longest source in the queue, and allocates them then; decoding
// allocates only the outputs and, when a row begins its first sentence, memory for the row's keys and values (buffers.c). All
// products of sizes are checked for overflow. A row holds at most as many keys and values as its own source allows
// (`specdec_capacity`); all hypotheses of a beam search are in the memory of their row (beam.h).
//
// Threads. With `batch` 1, all threads share the loops of one worker (team.h), where there is enough work; the model's helpers
// serve one such session at a time. With more rows, every thread is a worker with rows of its own. The thread that calls
// `specdec_session_next` is one of them, and works only during that call. The call returns after a time that the caller gives at
// the latest, plus one round. A session is used by one thread at a time; a child process after fork() gets threads of its own
// when it decodes.
//
// Numbers. Inputs of a product have 255 steps between the least and the largest number of a row, weights 127 steps either
// side of zero, sums are exact integers. Every float sum runs over 16 lanes in a fixed order (vectors.h), and every fused
// multiplication and addition is explicit. So the result of a row depends on neither the batch, the threads nor the
// instruction set. The reference is specdec_cli/model/int8/arithmetic.py, which computes the same bits.
//
// Errors. Every function returns a status; no function exits or prints.

#pragma once

#include <stdint.h>

#define SPECDEC_API __attribute__((visibility("default")))

#define SPECDEC_LANES 16           // widths are multiples of this
#define SPECDEC_MULTIPLE 16        // padded lengths of sources, and capacities of outputs, are multiples of this
#define SPECDEC_MOST_BEAM 32       // hypotheses of a sentence at most
#define SPECDEC_MOST_CANDIDATES 32 // tokens that a slot link chooses from at most
#define SPECDEC_MOST_SIZES 6       // sizes of drafts whose costs are measured, at most
#define SPECDEC_MOST_TOP_K 1024    // tokens that sampling chooses from at most, if their number is limited

enum specdec_status {
    SPECDEC_OK = 0,
    SPECDEC_WAITING = 1,     // the time is up and no sentence is done
    SPECDEC_FINISHED = 2,    // every sentence was handed out
    SPECDEC_ROUND = 3,       // a round of a sentence, where rounds were asked for
    SPECDEC_NO_MEMORY = -1,
    SPECDEC_BAD_SHAPE = -2,  // a size of a model is out of its range, or two of them do not go together
    SPECDEC_BAD_TENSOR = -3, // a tensor has another shape or number format than the model asks for
    SPECDEC_NOT_FINITE = -4, // a tensor, or what the model computes, holds a number that is not finite
    SPECDEC_BAD_OPTION = -5,
    SPECDEC_BAD_ID = -6,     // a source holds an id that the vocabulary lacks
    SPECDEC_BAD_LENGTH = -7, // a source is empty or longer than the model's positions
    SPECDEC_FORKED = -8,     // the session's threads live in the parent process
    SPECDEC_UNKNOWN_ISA = -9, // no instruction set of this name is built in, or this processor lacks it
    SPECDEC_BAD_PASS = -10,  // a value of a pass is out of its range
};

enum specdec_type { SPECDEC_TYPE_F32, SPECDEC_TYPE_F16, SPECDEC_TYPE_BF16, SPECDEC_TYPE_I8 };
enum specdec_activation {
    SPECDEC_ACTIVATION_RELU = 1,
    SPECDEC_ACTIVATION_GELU = 2,
    SPECDEC_ACTIVATION_SILU = 3,
    SPECDEC_ACTIVATION_GELU_TANH = 4
};
enum specdec_positions { SPECDEC_POSITIONS_SINUSOIDAL, SPECDEC_POSITIONS_LEARNED, SPECDEC_POSITIONS_RELATIVE };
enum specdec_method {
    SPECDEC_METHOD_GREEDY,
    SPECDEC_METHOD_INPUT_GUIDED,
    SPECDEC_METHOD_LOOKUP,
    SPECDEC_METHOD_SPECDEC,
    SPECDEC_METHOD_GIVEN_DRAFTS,
    SPECDEC_METHOD_BEAM,
    SPECDEC_METHOD_NGRAM_MEMORY,
    SPECDEC_METHOD_JACOBI,
    SPECDEC_METHOD_GS_JACOBI,
    SPECDEC_METHOD_HYBRID_JACOBI,
    SPECDEC_METHOD_DRAFT_MODEL
};
enum specdec_match { SPECDEC_MATCH_UNIQUE, SPECDEC_MATCH_UNIQUE_3, SPECDEC_MATCH_NEAREST };
// When beam search ends for a sentence that has as many finished hypotheses as the beam: see decoding/beam.py.
enum specdec_stop { SPECDEC_STOP_HEURISTIC, SPECDEC_STOP_FIRST, SPECDEC_STOP_NEVER, SPECDEC_STOP_FAIRSEQ };

// The sizes of a model. `source_vocabulary` is that of the encoder. Flags are 0 or 1. A block drafter has `drafter_layers` > 0; these
// attend to the verifier's top states, or with `own_prefix` to their own states of the prefix. It drafts the first `shortlist` tokens
// only, if that is not 0. With `recurrent_link`, the choice of a drafted token depends on all drafted tokens before it; without, only
// on the one directly before it.
struct specdec_shape {
    int32_t source_vocabulary, vocabulary, width, feed_forward, heads, encoder_layers, decoder_layers;
    int32_t pre_norm, activation, positions, position_offset, max_positions;
    // As in TransformerConfig of model/config.py; `attention_width` is not 0.
    int32_t attention_width, attention_scale, reach, layer_biases, rms_norm, biases, gated;
    float norm_epsilon;
    int32_t embedding_scale, embedding_norm, shared_embeddings, tied_output, output_bias;
    int32_t padding, eos, start;
    int32_t drafter_layers, drafter_feed_forward, max_block, link_width, candidates, shortlist, mask, own_prefix, recurrent_link;
};

// A matrix (rows, columns), or a vector of `rows` numbers with 1 column, in C order. A matrix of SPECDEC_TYPE_I8 has a scale for
// each row. The order of a model's tensors is that of tensors.py. `mapped`: the data are in a private mapping of a file that nobody has
// changed; their pages are given back once they were read, and read again from the file when they are needed.
struct specdec_tensor {
    const void *data;
    const float *scales;
    int64_t rows, columns;
    int32_t type, mapped;
};

// By which rule drafted tokens are accepted. Zeros are the exact rule: a token is accepted if it is the first choice.
struct specdec_acceptance {
    int32_t top_beta; // else it is accepted if it is among so many best ones,
    float tolerance;  // and at most so many nats below the best
    float margin;     // above 0: only if its logit is at least this much above all others; else the best of these is taken
    int32_t whole;    // whether nothing is taken in a round that does not accept its whole draft; for Jacobi decoding
    // Sampling: a token is accepted if it is what sampling chooses here, see sampling.h.
    double temperature; // above 0: by which logits are divided
    int32_t top_k;      // only so many best tokens are chosen from (0: all)
    int64_t seed;       // of the noise, with the random streams of the sentences
};

// Rules on outputs, as in GenerationRules of model/bundle_info.py.
struct specdec_constraints {
    int32_t min_length;           // tokens before EOS at least
    int32_t no_repeat_ngram_size; // no n-gram of so many tokens occurs twice in an output (0: any may)
    int32_t source_ngram_size;    // nor in output and source
    float repetition_penalty;     // scores of tokens that an output has are divided or multiplied by it (1: they stay)
    int32_t most_copies;          // of an n-gram in immediate succession (0: any number)
    int32_t forced_end;           // whether an output that is full ends with EOS
    int32_t forced;               // the token that every output begins with, or -1
    const int32_t *forms;         // (vocabulary), for most_copies: numbers of the texts of tokens, positive for those with a letter
    const int32_t *source_forms;  // (source vocabulary)
};

// Beam search.
struct specdec_search {
    int32_t beam_size; // hypotheses that are kept, 1 to SPECDEC_MOST_BEAM
    int32_t n_best;    // those that are given, by their log probabilities over their lengths to the power of
    double length_penalty;
    int32_t stop; // enum specdec_stop; a forced token counts with probability 1, except for SPECDEC_STOP_FAIRSEQ
};

struct specdec_options {
    int32_t method;            // enum specdec_method
    int32_t block_size;        // tokens of a draft at most (0: no bound); fewer if `adaptive` chooses the number
    int32_t batch_size;        // sentences that a thread decodes together
    int32_t threads;
    int32_t max_length;        // tokens of an output at most (0: the model's bound)
    int32_t match;             // enum specdec_match: where a copy goes on
    int32_t with_scores;       // whether tokens get log probabilities
    int32_t with_rounds;       // whether rounds of sentences are handed out too
    int32_t shared_vocabulary; // whether ids of source and output mean the same tokens
    struct specdec_acceptance acceptance;
    struct specdec_constraints constraints;
    struct specdec_search search;
    const uint8_t *word_starts;        // (vocabulary), for SPECDEC_MATCH_NEAREST: which tokens begin a word
    struct specdec_adaptive *adaptive; // NULL: every draft of a drafter has `block_size` tokens
    struct specdec_memory *memory;     // for SPECDEC_METHOD_NGRAM_MEMORY
    // For SPECDEC_METHOD_DRAFT_MODEL: the model that drafts, the rules on its outputs, and where its vocabulary is another one, functions
    // of the types specdec_read and specdec_continue; NULL: ids pass unchanged, and in sampling it draws with the same noise.
    const struct specdec_model *draft_model;
    const struct specdec_constraints *draft_constraints;
    const void *read, *continued;
};

// Between two vocabularies; both functions write at most `capacity` ids to `ids` and return their number. The first one: the ids of the
// draft model for `length` tokens of an output. The second one: tokens that follow an output, for `count` ids that the draft model wrote
// after those that it read. They are called by all threads.
typedef int64_t (*specdec_read)(const int32_t *output, int64_t length, int32_t *ids, int64_t capacity);
typedef int64_t (*specdec_continue)(const int32_t *output, int64_t length, const int32_t *read, int64_t read_count, const int32_t *written,
                                    int64_t count, int32_t *ids, int64_t capacity);

// The sentences of a session. Texts stand one after the other: number i is ids[starts[i]] .. ids[starts[i + 1] - 1].
struct specdec_queue {
    int64_t count;
    const int32_t *ids; // the sources, EOS included
    const int64_t *starts;
    const int32_t *texts;          // a text for each sentence, ending with EOS, from which its tokens are drafted, for
    const int64_t *text_starts;    // SPECDEC_METHOD_GIVEN_DRAFTS, and in place of the source for SPECDEC_METHOD_INPUT_GUIDED; or NULL
    const int32_t *first_drafts;   // tokens of the first copy of each sentence at most (0: no bound); later ones grow or shrink with what
                                   // was accepted; or NULL
    const int32_t *prefix_lengths; // tokens at the start of each text that are taken without being verified; or NULL
    const int32_t *lengths;        // expected tokens of each output, where the drafts of Jacobi decoding end; or NULL
    const uint32_t *streams;       // (count, 2), for sampling: the random stream of each sentence
    const int32_t *draft_ids;      // the sources for the draft model, EOS included, empty for those that it does not read, for
    const int64_t *draft_starts;   // SPECDEC_METHOD_DRAFT_MODEL; or NULL
    // For measurements of time: the drafter still drafts in every round, but these drafts are verified in place of its own: of
    // `recorded_rounds` rounds of each sentence, sentence after sentence. Later rounds are given the last one of their sentence.
    int32_t recorded_rounds;
    const int32_t *recorded;
    const int64_t *recorded_starts;
};

// Milliseconds of a round's parts, each for 1 row and for 8 rows: a round without drafts; verifying, and drafting, drafts of each of
// the `count` measured sizes in tokens, the shortest first.
struct specdec_costs {
    int32_t count, sizes[6]; // of SPECDEC_MOST_SIZES
    double plain[2], verifying[2][6], drafting[2][6];
};

// What a trial of drafts measured of sentences that were decoded one by one, some without drafts and some with them: how many, their tokens
// and milliseconds; and the rounds with drafts.
struct specdec_trial {
    int64_t sentences[2], tokens[2], rounds;
    double milliseconds[2];
};

// One of the best outputs of beam search for a sentence: its ids, its log probability, and the score by which it is ranked.
struct specdec_hypothesis {
    double score;
    int64_t length;
    const int32_t *ids;
    float log_probability;
    int32_t reserved;
};

// A decoded sentence: its number in the queue, its ids, EOS included where it was reached, and the log probability of each, if
// they were asked for. `drafted`: whether rounds began with drafts. Beam search gives `count` hypotheses, the best one first, whose ids
// these are, and no other log probabilities. All arrays belong to the session, until the next call for it.
// Of a round (SPECDEC_ROUND): `rounds` counts those of the sentence up to this one, `length` tokens were taken, `drafted` tokens
// had been drafted, and `ids` are those taken, then those drafted, then `drafted` + 1 that the verifier chose at these positions and after
// them; `count` is 1 if the sentence ended. There are no log probabilities.
struct specdec_output {
    int64_t number, length, rounds, drafted;
    const int32_t *ids;
    const float *log_probabilities;
    int64_t count;
    const struct specdec_hypothesis *hypotheses;
};

// Rows of specdec_encode() or specdec_pass(). Arrays are in C order; row r has positions 0 .. lengths[r] - 1 of `width`, at least one.
// What holds keys and values has the layout of layers.h, and memory for as many floats as specdec_keys_size() says.
struct specdec_rows {
    int32_t threads;
    int64_t count, width;
    const int64_t *ids;     // (count, width)
    const int64_t *lengths; // (count)
    float *states;          // (count, width, W): the results, with zeros behind the positions of a row
    float *memories;        // (count, memory_size): keys and values of the source; NULL: they are not computed
    int64_t memory_size;
    // Of specdec_pass() alone:
    const int64_t *source_lengths; // (count)
    const int64_t *indices;        // (count, width): where each position's keys and values are written,
    const int64_t *ends;           // (count, width): and how many of the first ones it sees
    float *caches;                 // (count, cache_size): keys and values of the output
    int64_t cache_size, capacity;  // of `capacity` positions
};

// Rows whose drafts specdec_verify() checks. Arrays are in C order; keys and values are those of specdec_rows.
struct specdec_verification {
    int32_t threads;
    int64_t count, width;   // a draft has up to `width` tokens
    const int64_t *drafts;  // (count, width)
    const int64_t *drafted; // (count): the length of each draft
    const int64_t *prefix;  // (count): its tokens that are taken without being verified; or NULL
    const int64_t *tokens;  // (count, capacity): the outputs so far, decoder start included
    const int64_t *lengths; // (count): their tokens, at least one
    const int64_t *limits;  // (count): tokens that they have at most
    int64_t capacity, source_width;
    const int64_t *sources;        // (count, source_width)
    const int64_t *source_lengths; // (count)
    float *memories, *caches;
    int64_t memory_size, cache_size;
    const struct specdec_constraints *constraints;
    float *states;   // (count, width + 1, W): the results for the last token and the draft, with zeros behind them
    int64_t *chosen; // (count, width + 1): the token that is taken there, see judge.h, with zeros behind them
    float *scores;   // (count, width + 1): the log probabilities of what is chosen where all tokens before passed, else 0; or NULL
};

struct specdec_model;
struct specdec_session;
struct specdec_adaptive;
struct specdec_memory;

// The CRC-32 of this file when the library was built, so that a caller that has another one notices; 0: unknown.
SPECDEC_API uint32_t specdec_interface(void);

// The names of the instruction sets that are built in and that this processor has, the best one first, with commas between.
SPECDEC_API const char *specdec_instruction_sets(void);

// `isa` names an instruction set; NULL stands for the best one. `damaged` is the number of the tensor that an error is about, or -1.
SPECDEC_API int32_t specdec_model_create(const struct specdec_shape *shape, const struct specdec_tensor *tensors, int64_t count,
                                         const char *isa, struct specdec_model **model, int64_t *damaged);
SPECDEC_API void specdec_model_destroy(struct specdec_model *model);
SPECDEC_API const char *specdec_model_isa(const struct specdec_model *model);

// Tokens that an output row has room for, the start included, after a source of `source_length` tokens, where outputs have
// `min_length` tokens at least.
SPECDEC_API int64_t specdec_capacity(const struct specdec_model *model, int64_t source_length, int64_t min_length);

// The queue is copied; what `options` points to must outlive the session. `fault` is the name of the option that is out of its range, or
// does not go with the others, if the status is SPECDEC_BAD_OPTION.
SPECDEC_API int32_t specdec_session_create(const struct specdec_model *model, const struct specdec_options *options,
                                           const struct specdec_queue *queue, struct specdec_session **session, const char **fault);
SPECDEC_API int32_t specdec_session_next(struct specdec_session *session, int32_t milliseconds, struct specdec_output *output);

// The least milliseconds that drafting took, and that the rest of a round took, in a round of as many rows as the session holds,
// with drafts of `block_size` tokens if there is a drafter; 0 without such a round.
SPECDEC_API void specdec_session_times(const struct specdec_session *session, double *drafting, double *verifying);

// Statistics of accepted tokens, which choose the number of drafted ones, 1 to `longest`, for batches of at most `rows` and for
// sessions of at most `workers` workers, one session at a time. `may_skip`: sentences are not drafted while it does not pay. Whether it pays
// for sentences that are decoded one by one is then measured in a trial, which goes on from `trial`; NULL: the costs say so.
SPECDEC_API int32_t specdec_adaptive_create(const struct specdec_costs *costs, const struct specdec_trial *trial, int32_t longest,
                                            int32_t rows, int32_t workers, int32_t may_skip, struct specdec_adaptive **adaptive);
SPECDEC_API void specdec_adaptive_destroy(struct specdec_adaptive *adaptive);
// Rounds with a draft, counted for each row, and the tokens that were drafted in them.
SPECDEC_API void specdec_adaptive_drafts(const struct specdec_adaptive *adaptive, int64_t *rounds, int64_t *tokens);
// What the trial has measured; and what a trial says: 1: drafts pay, -1: they do not, 0: it is not at its end.
SPECDEC_API void specdec_adaptive_trial(const struct specdec_adaptive *adaptive, struct specdec_trial *trial);
SPECDEC_API int32_t specdec_trial_verdict(const struct specdec_trial *trial);

// What followed the same tokens in earlier outputs, for sessions of at most `workers` workers, one session at a time. Each worker
// has its own, so that drafts do not depend on which thread is faster, for as long as one worker decodes.
SPECDEC_API int32_t specdec_memory_create(int32_t vocabulary, int32_t workers, struct specdec_memory **memory);
SPECDEC_API void specdec_memory_destroy(struct specdec_memory *memory);

// Passes without a session. The number of floats that keys and values of all layers of the decoder have at so many positions of a row;
// and the layers of the encoder, and of the decoder, over some rows. `fault` is the name of the value that is out of its range, if the
// status is SPECDEC_BAD_PASS.
SPECDEC_API int64_t specdec_keys_size(const struct specdec_model *model, int64_t positions);
SPECDEC_API int32_t specdec_encode(const struct specdec_model *model, const struct specdec_rows *rows, const char **fault);
SPECDEC_API int32_t specdec_pass(const struct specdec_model *model, const struct specdec_rows *rows, const char **fault);
// `logits` (count, V) of states (count, W).
SPECDEC_API int32_t specdec_project(const struct specdec_model *model, int32_t threads, int64_t count, const float *states, float *logits,
                                    const char **fault);
// A pass over the last token and the draft of some rows, and the choice of tokens there.
SPECDEC_API int32_t specdec_verify(const struct specdec_model *model, const struct specdec_verification *rows, const char **fault);
// `steps` tokens more for each row, by specdec_verify(): in the first pass after the last token and the draft, then one by one. They go to
// `written` (count, steps); behind an EOS all are EOS. `states` and `chosen` are not written.
SPECDEC_API int32_t specdec_extend(const struct specdec_model *model, const struct specdec_verification *rows, int64_t steps,
                                   int64_t *written, const char **fault);
// Of logits (count, size), each for `count` positions: the largest logit, and the logarithm of the sum of e^(logit - largest), where
// suppressed logits count as if they were not; and the log probability of an id, as it is.
SPECDEC_API void specdec_normalizers(const struct specdec_model *model, int64_t count, int64_t size, const float *logits, float *tops,
                                     float *log_totals);
SPECDEC_API int32_t specdec_log_probabilities(const struct specdec_model *model, int64_t count, int64_t size, const float *logits,
                                              const int64_t *ids, float *to);

// Stops all threads of the session, after their present round.
SPECDEC_API void specdec_session_destroy(struct specdec_session *session);
