"""Earlier configs as configs of today: those of version 1, and fields that version 2 has renamed since."""

from __future__ import annotations

from typing import Any

# Fields of version 1 that this one does not have, and the only value of each that it can express.
DROPPED: dict[str, dict[str, Any]] = {
    "data": {"spread": 1.0, "ensemble_weights": []},
    "model": {"norm_kind": "layer", "activation": "relu", "tied": True, "ponder_cost": 0.01},
    "optim": {"number_loss": 0.0, "soft_width_end": 0.0, "beta1": 0.9, "eps": 1e-8},
    "curriculum": {"easy_spread": 1.0},
}


# Fields of version 1 that are now options of an architecture, and their defaults.
OPTIONS = {"loop_gate": "none", "cross_query": "sequential", "product_norm": "matrix", "embedding_dim": 0, "memory": 0}


def renamed(values: dict[str, Any]) -> dict[str, Any]:
    """Until 2026-11-19 version 2 had a switch `tensorboard` in place of `logger`."""
    train = values.get("train")
    if not isinstance(train, dict) or not isinstance(train.get("tensorboard"), bool):
        return values
    logger = "tensorboard" if train["tensorboard"] else ""
    others = {name: value for name, value in train.items() if name != "tensorboard"}
    return values | {"train": {"logger": logger} | others}


def upgrade(old: dict[str, Any]) -> dict[str, Any]:
    """A config of version 1 as today's. Values that this version cannot express are refused."""
    parts = {name: dict(old.get(name, {})) for name in ("data", "model", "optim", "train", "curriculum")}
    for part, dropped in DROPPED.items():
        for name, only in dropped.items():
            value = parts[part].pop(name, only)
            if (list(value) if isinstance(value, tuple) else value) != only:
                raise ValueError(f"{part}.{name} = {value!r} of an earlier version has no place in this one")
    data, model, optim, train, mix = parts.values()
    return {
        "data": _data(data),
        "model": _model(model),
        "optim": _optim(optim, model_has_prior=model.get("output_bias") == "place"),
        "train": _train(train),
    } | _mix(mix, train)


def _data(data: dict[str, Any]) -> dict[str, Any]:
    subset, options = data.pop("subset", []), data.pop("task_options", [])
    if data.get("task") == "cotraining":
        data["task"] = subset[0] if len(subset) == 1 else "+".join(subset)
    elif options:
        data["task"] += ":" + ",".join(options)
    return data


def _model(model: dict[str, Any]) -> dict[str, Any]:
    is_looped = model.get("architecture") == "universal"
    is_recurrent = model.get("architecture") in ("lstm", "gru")
    has_loops = is_looped and (model.get("encoder_loops"), model.get("decoder_loops")) != (1, 1)
    has_effect = {
        "loop_gate": has_loops,
        "cross_query": not is_recurrent,
        "product_norm": bool(model.get("products")),
        "embedding_dim": is_recurrent,
        "memory": is_recurrent,
    }
    given = {name: model.pop(name, default) for name, default in OPTIONS.items()}
    options = [f"{name}={value}" for name, value in given.items() if has_effect[name] and value != OPTIONS[name]]
    name = model.pop("architecture", "transformer")
    name = "transformer" if name == "universal" else name
    new: dict[str, Any] = {"architecture": ":".join(filter(None, (name, ",".join(options))))}
    for side in ("encoder", "decoder"):
        loops = model.pop(f"{side}_loops", 1)
        new[f"{side}_loops"] = loops if is_looped else 1
    for both, one in (("dim_model", "dim"), ("heads", "heads")):
        value = model.pop(both, {"dim_model": 512, "heads": 8}[both])
        new[both] = _pair(model.pop(f"encoder_{one}", 0) or value, model.pop(f"decoder_{one}", 0) or value)
    if is_recurrent:
        new["heads"] = [8]
    positions = model.pop("positions", "learned")
    new["positions"] = _pair(model.pop("encoder_positions", "") or positions, positions)
    has_relations, start = model.pop("relations", False), model.pop("relation_start", 0.0)
    new["relations"] = ("directed" if start == 12.0 else "learned") if has_relations else "none"
    if start not in (0.0, 12.0):
        raise ValueError(f"model.relation_start = {start} of an earlier version has no place in this one")
    layers = {"qk_norm": True, "bias": False, "zero_init": True}
    if model.get("norm", "post") == "post":
        layers = {name: not value for name, value in layers.items()}
    for name, only in layers.items():
        value = model.pop(name, only)
        if value != only and not is_recurrent:
            raise ValueError(
                f"model.{name} = {value} with norm {model.get('norm', 'post')!r} has no place in this version"
            )
    if "output_bias" in model:
        model["output_bias"] = {"word": "token"}.get(model["output_bias"], model["output_bias"])
    return model | new


def _pair(encoder: Any, decoder: Any) -> list[Any]:
    return [encoder] if encoder == decoder else [encoder, decoder]


def _optim(optim: dict[str, Any], model_has_prior: bool) -> dict[str, Any]:
    if optim.pop("prior_bias", False) != model_has_prior:
        raise ValueError("optim.prior_bias of an earlier version has no place in this one: it goes with output_bias")
    name, decay = optim.pop("optimizer", "adam"), optim.pop("weight_decay", 0.0)
    rate = optim.pop("muon_learning_rate", 0.02)
    options = [f"learning_rate={rate}"] if name == "muon" else []
    options += [f"weight_decay={decay}"] if decay and name != "adam" else []
    schedule = optim.pop("schedule", "constant")
    lowest, period = optim.pop("min_learning_rate", 0.0), optim.pop("schedule_steps", 0)
    cooldown = optim.pop("cooldown", 0.5)
    details = {"linear": [f"cooldown={cooldown}"], "cosine": [f"lowest={lowest}", f"period={period}"]}.get(schedule, [])
    return optim | {
        "optimizer": ":".join(filter(None, (name, ",".join(options)))),
        "schedule": ":".join(filter(None, (schedule, ",".join(details)))),
    }


def _train(train: dict[str, Any]) -> dict[str, Any]:
    train.pop("init_part", None)  # the model it started from was not in the config; the result's `origin` has it
    return train


def _mix(old: dict[str, Any], train: dict[str, Any]) -> dict[str, Any]:
    mix = {name: old[name] for name in ("repeated_share", "pool") if name in old}
    share, until, dim = old.get("easy_share", 0.0), old.get("easy_until", 1.0), old.get("easy_dim", "")
    if not share:
        return {"mix": mix}
    if old.get("easy_grows"):  # sizes that grow are stages now, of equal parts
        low, _, high = dim.partition("-")
        sizes = range(int(low), int(high or low) + 1)
        examples = round(until * train.get("examples", 3_000_000) / len(sizes))
        if share < 1:
            raise ValueError("curriculum.easy_grows with easy_share below 1 has no place in this version")
        return {"mix": mix, "stage": [{"examples": examples, "dim": str(size)} for size in sizes]}
    further = {"mix_share": share, "mix_until": until, "mix_dim": dim, "mix_ensemble": old.get("easy_ensemble", ())}
    return {"mix": mix | further}
