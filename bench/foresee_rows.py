# SPDX-License-Identifier: Apache-2.0
"""The rows of bench/foresee.py: which script runs, how often at once, and what is done before."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    title: str
    # Words of one script each, all started at the same time: several are several jobs.
    jobs: tuple
    processes: int = 1  # of one job, started by torchrun
    # Of the pace that was asked for, each job's part.
    rate_part: float = 1.0
    # How often the same is run, each time with a new mount and cold caches, and one folder for what the daemon remembers; the last counts.
    runs: int = 1
    half_cached: bool = False   # every second file is read by somebody else before
    blind_daemon: bool = False  # the daemon is in a process id namespace of its own, in which it sees none of the readers
    # The seed is to be found among all 2^32.
    search: bool = False
    view: str = ""  # the SPEC of the view that the script reads; none: the images


def row(name, title, script, *words, **options):
    return Row(name, title, ((f"{script}.py", *words),), **options)


def image_folder(name, title, *words, **options):
    return row(name, title, "image_folder", *words, **options)


def ranks_of(world_size, first_rank, count=1, workers=2, batch=None, **options):
    """A host that has `count` of the ranks. Its epochs are short, so it reads slowly, and many ranks have no workers or small batches: else
    they would read the whole epoch ahead."""
    ranks = f"rank {first_rank}" if count == 1 else f"ranks {first_rank} to {first_rank + count - 1}"
    batches = f", batches of {batch}" if batch else ""
    return row(f"ranks-{count}-of-{world_size}" + ("-workers" if batch else ""),
               f"DistributedSampler, set_epoch, {ranks} of {world_size}, {workers} workers{batches}", "distributed",
               "--world-size", str(world_size), "--first-rank", str(first_rank), "--workers", str(workers), *(("--batch", str(batch)) if batch else ()),
               processes=count,
               rate_part=max(1 / 8, count / world_size), **options)


SHUFFLE = "ImageFolder, DataLoader(shuffle=True)"


def arrays(name, kind, title, *words, **options):
    """Arrays of a view, which the daemon decodes: half of the pace."""
    return row(name, title, "arrays", kind, *words, view=f"{kind}+size=256+crop=224", rate_part=0.5, **options)

ROWS = [
    image_folder("unseeded-0", f"{SHUFFLE}, unseeded, 0 workers", search=True),
    image_folder("unseeded-2", f"{SHUFFLE}, unseeded, 2 workers", "--workers", "2", search=True),
    image_folder("unseeded-4", f"{SHUFFLE}, unseeded, 4 workers", "--workers", "4", search=True),
    image_folder("unseeded-persistent", f"{SHUFFLE}, unseeded, 2 persistent workers", "--workers", "2", "--persistent", search=True),
    image_folder("seed-0", f"{SHUFFLE}, manual_seed(0), 0 workers", "--seed", "0"),
    image_folder("seed-2", f"{SHUFFLE}, manual_seed(42), 2 workers", "--seed", "42", "--workers", "2"),
    image_folder("seed-4", f"{SHUFFLE}, manual_seed(1234), 4 workers", "--seed", "1234", "--workers", "4"),
    image_folder("seed-rare", f"{SHUFFLE}, manual_seed(907251), 2 workers", "--seed", "907251", "--workers", "2", search=True),
    image_folder("seed-persistent", f"{SHUFFLE}, manual_seed(42), 4 persistent workers", "--seed", "42", "--workers", "4", "--persistent"),
    image_folder("seed-model", f"{SHUFFLE}, manual_seed(0), a resnet18 built first, 2 workers", "--seed", "0", "--model", "--workers", "2", search=True),
    image_folder("generator-0", f"{SHUFFLE}, generator of seed 42, 0 workers", "--generator", "42"),
    image_folder("generator-2", f"{SHUFFLE}, generator of seed 42, 2 workers", "--generator", "42", "--workers", "2"),
    image_folder("generator-persistent", f"{SHUFFLE}, generator of seed 0, 2 persistent workers", "--generator", "0", "--workers", "2", "--persistent"),
    row("distributed-2", "DistributedSampler, set_epoch, 2 ranks of 2 workers", "distributed", processes=2),
    row("distributed-4", "DistributedSampler, set_epoch, 4 ranks of 2 workers", "distributed", processes=4),
    row("distributed-2-same", "DistributedSampler, no set_epoch, 2 ranks of 2 workers", "distributed", "--no-set-epoch", processes=2),
    row("distributed-4-same", "DistributedSampler, no set_epoch, 4 ranks without workers", "distributed", "--no-set-epoch", "--workers", "0", processes=4),
    ranks_of(2, 1),
    ranks_of(4, 2),
    ranks_of(8, 5),
    ranks_of(64, 40),
    ranks_of(8, 2, 2),
    ranks_of(64, 16, 8, workers=0),
    ranks_of(64, 16, 8, batch=8),
    ranks_of(512, 301, workers=0),
    row("timm", "timm create_loader, seed 42 as in its train.py, 2 workers", "timm_loader"),
    row("lightning", "Lightning, seed_everything(42), 2 workers", "lightning_trainer", "--seed", "42"),
    row("lightning-unseeded", "Lightning, unseeded, 2 workers", "lightning_trainer", search=True),
    row("lightning-ddp", "Lightning, DDP, unseeded, 2 ranks of 2 workers", "lightning_trainer", "--devices", "2"),
    row("accelerate", "accelerate, set_seed(42), 2 workers", "accelerate_loop", "--seed", "42"),
    row("accelerate-2", "accelerate, set_seed(42), 2 processes of 2 workers", "accelerate_loop", "--seed", "42", processes=2),
    row("trainer", "transformers Trainer, default seed, 2 workers", "transformers_trainer"),
    row("trainer-2", "transformers Trainer, default seed, 2 processes of 2 workers", "transformers_trainer", processes=2),
    row("subset", "SubsetRandomSampler over nine tenths of the list, unseeded, 2 workers", "subsets", "subset", search=True),
    row("subset-shuffled", "SubsetRandomSampler over nine tenths drawn by NumPy, manual_seed(42), 2 workers", "subsets", "subset-shuffled", "--seed", "42"),
    row("random-split", "random_split by a generator of seed 42, DataLoader(shuffle=True) of nine tenths, manual_seed(42), 2 workers",
        "subsets", "split", "--seed", "42"),
    row("piece", "the list as it is, rank 1 of 4 of shard(contiguous=True), 2 workers", "subsets", "piece", "--world-size", "4", "--rank", "1", rate_part=1 / 4),
    row("piece-first", "the same, rank 0 of 4", "subsets", "piece", "--world-size", "4", "--rank", "0", rate_part=1 / 4),
    row("weighted", "WeightedRandomSampler, unseeded, 2 workers", "subsets", "weighted"),
    row("stateful-0", "StatefulDataLoader(shuffle=True), unseeded, 0 workers", "stateful", "--workers", "0", search=True),
    row("stateful", "StatefulDataLoader(shuffle=True), unseeded, 2 workers", "stateful", search=True),
    row("stateful-seed", "StatefulDataLoader(shuffle=True), manual_seed(42), 2 workers", "stateful", "--seed", "42"),
    row("resumed", "DistributedSampler, resumed in the middle of its fourth epoch by accelerate, 2 workers", "resumed"),
    image_folder("namespace-seed", f"{SHUFFLE}, manual_seed(42), 4 workers, readers whose process ids the daemon cannot see",
                 "--seed", "42", "--workers", "4", blind_daemon=True),
    image_folder("namespace", f"{SHUFFLE}, unseeded, 4 workers, readers whose process ids the daemon cannot see", "--workers", "4", blind_daemon=True, search=True),
    image_folder("half-cached-seed", f"{SHUFFLE}, manual_seed(42), 2 workers, half of the files in the page cache", "--seed", "42", "--workers", "2",
                 half_cached=True),
    image_folder("half-cached", f"{SHUFFLE}, unseeded, 2 workers, half of the files in the page cache", "--workers", "2", half_cached=True, search=True),
    image_folder("busy", f"{SHUFFLE}, unseeded, 2 workers that keep two cores busy, as fast as they come", "--workers", "2", "--work", "800",
                 rate_part=0, search=True),
    Row("four-jobs", f"four jobs at once: {SHUFFLE}, manual_seed(0, 1, 42, 1234), 1 worker each",
        tuple(("image_folder.py", "--workers", "1", "--seed", seed) for seed in ("0", "1", "42", "1234")), rate_part=0.5),
    row("numpy-list", "sorted list, numpy.random.seed(42), shuffled in place each epoch", "shuffled_list", "numpy", "--seed", "42"),
    row("numpy-list-rare", "the same, numpy.random.seed(271828)", "shuffled_list", "numpy", "--seed", "271828"),
    row("python-list", "sorted list, random.seed(42), shuffled in place each epoch", "shuffled_list", "python", "--seed", "42"),
    row("keras", "keras image_dataset_from_directory, default seed", "keras_directory"),
    row("keras-seed", "keras image_dataset_from_directory, seed 123", "keras_directory", "--seed", "123"),
    row("tf-seed", "tf.data list_files(shuffle=True, seed=42)", "tf_files", "--seed", "42"),
    row("tf", "tf.data list_files(shuffle=True), unseeded", "tf_files", search=True),
    row("tf-shard", "tf.data list_files(shuffle=True, seed=42).shard(4, 1)", "tf_files", "--seed", "42", "--shards", "4", "--shard", "1", rate_part=1 / 4),
    row("dali", "DALI readers.file(random_shuffle=True)", "dali_reader"),
    row("dali-shard", "DALI readers.file(random_shuffle=True), shard 1 of 4, which goes on to the next one", "dali_reader", "--shards", "4", "--shard", "1",
        rate_part=1 / 4),
    row("dali-shard-stuck", "the same, stick_to_shard=True", "dali_reader", "--shards", "4", "--shard", "1", "--stick", rate_part=1 / 4),
    image_folder("again", f"{SHUFFLE}, manual_seed(907251), 2 workers: the second run", "--seed", "907251", "--workers", "2", runs=2, search=True),
    arrays("pt", "pt", "torch.load of a view pt, DataLoader(shuffle=True), manual_seed(42), 2 workers", "--seed", "42", "--workers", "2"),
    arrays("pt-unseeded", "pt", "torch.load of a view pt, DataLoader(shuffle=True), unseeded, 0 workers", search=True),
    arrays("zarr", "zarr", "Zarr of a view zarr, an image at a time, DataLoader(shuffle=True), manual_seed(42), 2 workers", "--seed", "42", "--workers", "2"),
    arrays("zarr-unseeded", "zarr", "Zarr of a view zarr, an image at a time, DataLoader(shuffle=True), unseeded, 0 workers", search=True),
    arrays("h5", "h5", "h5py on a view h5, an image at a time, DataLoader(shuffle=True), manual_seed(42), 2 workers", "--seed", "42", "--workers", "2"),
    arrays("h5-unseeded", "h5", "h5py on a view h5, an image at a time, DataLoader(shuffle=True), unseeded, 0 workers", search=True),
    row("again-weighted", "WeightedRandomSampler, manual_seed(5), 2 workers: the second run", "subsets", "weighted", "--seed", "5", runs=2),
]
