"""Which expressions are tf.data datasets."""

from __future__ import annotations

# Methods of a dataset that give back a dataset.
DATASET_RESULTS = frozenset(
    "apply batch bucket_by_sequence_length cache choose_from_datasets concatenate enumerate filter flat_map fingerprint from_generator from_tensor_slices "
    "from_tensors "
    "group_by_window ignore_errors interleave list_files load map padded_batch prefetch ragged_batch random range rebatch rejection_resample repeat "
    "sample_from_datasets "
    "scan shard shuffle skip snapshot sparse_batch take take_while unbatch unique window with_options zip".split()
)

_DATA = ("tensorflow.data.", "tensorflow.compat.v1.data.")
_NOT_DATASETS = frozenset({"Options", "Iterator", "AUTOTUNE", "TFRecordWriter", "cardinality", "get_single_element", "ThreadingOptions", "DistributeOptions"})
_CONSTRUCTORS = frozenset(
    "Dataset FixedLengthRecordDataset TFRecordDataset TextLineDataset CsvDataset RandomDataset SqlDataset make_csv_dataset make_batched_features_dataset "
    "Counter "
    "sample_from_datasets choose_from_datasets load index_table_from_dataset".split()
)
_KERAS = frozenset("image_dataset_from_directory text_dataset_from_directory audio_dataset_from_directory timeseries_dataset_from_array".split())
_LIKE = frozenset({"tensorflow_datasets.load", "tensorflow_datasets.as_dataset", "tensorflow_datasets.builder().as_dataset"})


def is_dataset_api(dotted: str) -> bool:
    """Calling this canonical library name certainly gives a dataset."""
    head, _, last = dotted.rpartition(".")
    if dotted.startswith(_DATA):
        if last in _NOT_DATASETS:
            return False
        if head.endswith(".Dataset"):
            return last in DATASET_RESULTS
        return last in _CONSTRUCTORS
    return last in _KERAS and dotted.startswith("keras.")


def is_dataset_like(dotted: str) -> bool:
    """Calling this gives a dataset as a rule."""
    return dotted in _LIKE or dotted.endswith(("().as_dataset", "().experimental_distribute_dataset"))
