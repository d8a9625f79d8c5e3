"""The columns of tables of condensed graphs."""

from __future__ import annotations

from benchquery.table.schema import Column

COLUMNS = (
    Column("config", "string", "Hash of the configuration (CondenseConfig): the key, with "
           "`evaluation`."),
    Column("evaluation", "string", "Hash of how the graph was judged (EvalConfig), its seed "
           "apart: that of seed 0."),
    Column("config_text", "string", "The configuration as text: CondenseConfig.from_text reads "
           "it."),
    Column("evaluation_text", "string", "How the graph was judged as text, with seed 0: "
           "EvalConfig.from_text reads it."),
    Column("domain", "string", "The sort of data; a table of one graph's condensations has none."),
    Column("dataset", "string", "What was condensed."),
    Column("method", "string", "The condensation method."),
    Column("ratio", "float64", "Size of the condensed graph relative to what `ratio_of` says."),
    Column("ratio_of", "string", "What the ratio is relative to: all nodes, or the labelled ones."),
    Column("per_class", "int64", "Graphs or images of each class that were asked for."),
    Column("init", "string", "What the result began as; none if it is selected."),
    Column("backbone", "string", "The model that was matched."),
    Column("seed", "int64", "Seed of the condensation."),
    Column("protocol", "string", "corrected, or as-released: with the faults of the published "
           "code kept on purpose."),
    Column("task", "string", "What the model that was trained on the condensed graph did."),
    Column("model", "string", "The model that was trained on the condensed graph."),
    Column("items", "int64", "Graphs, patterns or images of the condensed set; 0 if there is none.",
           "1"),
    Column("nodes", "int64", "Nodes of the condensed graph or graphs; 0 if there are none.", "1"),
    Column("distinct_nodes", "int64", "Nodes of the condensed graph whose features differ.", "1"),
    Column("edges", "int64", "Edges of the condensed graph whose weight reaches the threshold, "
           "each counted once.", "1"),
    Column("density", "float64", "Edges as a share of all pairs of nodes.", "fraction"),
    Column("homophily", "float64", "Share of the edge weight that joins nodes of one class.",
           "fraction"),
    Column("bytes_dense", "int64", "Size of the set with every graph's adjacency and features as "
           "float32 matrices.", "byte", None, "lower"),
    Column("bytes_compact", "int64", "Size of the set with nothing wasted: features in the "
           "smallest type that holds them, edges as pairs of small numbers.", "byte", None,
           "lower"),
    Column("share_dense", "float64", "Share of the original set's `bytes_dense`.", "fraction",
           None, "lower"),
    Column("share_compact", "float64", "Share of the original set's `bytes_compact`.",
           "fraction", None, "lower"),
    Column("threshold", "float64", "Edges of the condensed graph with less weight were left out."),
    Column("valid_perf", "float64", "Validation metric on the original graph of a model trained on "
           "the condensed one, averaged over the evaluation seeds: what is chosen by.",
           "fraction", "valid", "higher"),
    Column("valid_perf_std", "float64", "Sample standard deviation of `valid_perf` over the "
           "evaluation seeds.", "fraction", "valid"),
    Column("perf", "float64", "Test metric on the original graph at the epoch chosen by "
           "validation, averaged over the evaluation seeds: for reports only.",
           "fraction", "test", "higher"),
    Column("perf_std", "float64", "Sample standard deviation of `perf` over the evaluation seeds.",
           "fraction", "test"),
    Column("other_perf", "float64", "Test metric at the same epoch by the other of accuracy and "
           "ROC-AUC, averaged over the evaluation seeds; NaN where that makes no sense.",
           "fraction", "test", "higher"),
    Column("nmi", "float64", "Of a clustering: normalised mutual information with the classes.",
           "fraction", "test", "higher"),
    Column("ari", "float64", "Of a clustering: adjusted Rand index; 0 is that of chance.",
           "fraction", "test", "higher"),
    Column("f1", "float64", "Of a clustering: macro F1, clusters matched with classes.",
           "fraction", "test", "higher"),
    Column("full_nmi", "float64", "The `nmi` of the same model trained on the original graph.",
           "fraction", "test"),
    Column("full_ari", "float64", "The `ari` of the same model trained on the original graph.",
           "fraction", "test"),
    Column("full_f1", "float64", "The `f1` of the same model trained on the original graph.",
           "fraction", "test"),
    Column("last_perf", "float64", "Test metric at the last epoch, as DC-Bench reports it, "
           "averaged over the evaluation seeds.", "fraction", "test", "higher"),
    Column("full_perf", "float64", "Test metric of the same model trained on the original graph, "
           "averaged over the evaluation seeds.", "fraction", "test"),
    Column("full_perf_std", "float64", "Sample standard deviation of `full_perf` over the "
           "evaluation seeds.", "fraction", "test"),
    Column("retained", "float64", "What of the full figure is kept: `perf` / `full_perf`.",
           "fraction", "test", "higher"),
    Column("gain_over_random", "float64", "Gain in `perf` over `random` of the same size, judged "
           "alike, averaged over its seeds; NaN where the table has no such row.", "fraction",
           "test", "higher"),
    Column("gain_over_init", "float64", "Gain in `perf` over the same configuration without "
           "learning, with 0 epochs; NaN where the table has no such row.", "fraction", "test",
           "higher"),
    Column("first_valid", "float64", "Validation metric of the first snapshot, before anything was "
           "learnt, by the model that judges snapshots.", "fraction", "valid", "higher"),
    Column("chosen_valid", "float64", "The same of the snapshot that was chosen.", "fraction",
           "valid", "higher"),
    Column("last_valid", "float64", "The same of the last snapshot.", "fraction", "valid",
           "higher"),
    Column("best_epoch", "float64", "Condensation epoch of the snapshot chosen by validation.",
           "epoch"),
    Column("eval_seeds", "int32", "How many evaluation seeds the figures are means of."),
    Column("condense_time", "float64", "Time of the whole condensation, evaluation excluded.",
           "s", None, "lower"),
    Column("condense_time_best", "float64", "Time of the condensation until the chosen snapshot, "
           "evaluation excluded.", "s", None, "lower"),
    Column("iteration_time", "float64", "Time of one iteration of a method that learns images, on "
           "average; its memory is `peak_memory`.", "s", None, "lower"),
    Column("expert_time", "float64", "Time of training the experts of a trajectory method.", "s",
           None, "lower"),
    Column("expert_bytes", "int64", "Size of the experts on disk.", "byte", None, "lower"),
    Column("peak_memory", "float64", "Peak memory of the condensing process.", "byte", None,
           "lower"),
    Column("peak_gpu_memory", "float64", "Peak memory on the GPU; NaN without one.", "byte", None,
           "lower"),
    Column("graph_bytes", "int64", "Size of the arrays that are kept of it.", "byte", None,
           "lower"),
    Column("status", "string", "How the condensation ended: ok, diverged, oom or failed. Of an "
           "evaluation seed, how that evaluation did; missing if there was none."),
    Column("reason", "string", "Why the status is not ok; empty if it is. Of an evaluation seed "
           "also why there is no figure of the whole set."),
)  # fmt: skip
