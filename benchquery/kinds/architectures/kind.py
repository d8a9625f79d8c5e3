"""What tables of architectures tell the rest of the house."""

from __future__ import annotations

from types import MappingProxyType

from benchquery.kinds.architectures.arch import LINKS
from benchquery.kinds.architectures.columns import COLUMNS
from benchquery.table.kind import Picture, TableKind
from benchquery.table.manifest import CURVES

_HERE = "benchquery.kinds.architectures"
_SINGLE = f"{_HERE}.figures.single"
_SEVERAL = f"{_HERE}.figures.several"
_ANALYSIS = f"{_HERE}.analysis"

TABLE = TableKind(
    name="architectures",
    one="architecture",
    many="architectures",
    columns=COLUMNS,
    key=("hash",),
    brief=("hash", "link", "ops", "valid_perf", "perf", "latency", "para", "status"),
    expense="latency",
    values=MappingProxyType(
        {
            "status": ("ok", "diverged", "oom", "failed", "missing"),
            "link": tuple("".join(map(str, link)) for link in LINKS),
        }
    ),
    reader="lightread",
    table=f"{_HERE}.table:ArchTable",
    check=f"{_HERE}.checks:check_architectures",
    show=f"{_HERE}.show:show_architecture",
    pictures=MappingProxyType(
        {
            "pareto": Picture(f"{_SINGLE}:pareto", "all rows and their Pareto front"),
            "distribution": Picture(f"{_SINGLE}:distribution", "how figures are spread"),
            "correlations": Picture(f"{_SINGLE}:correlations", "how figures go together"),
            "frequency": Picture(f"{_SINGLE}:frequency", "what the best are made of"),
            "smoothness": Picture(f"{_SINGLE}:changes", "whether similar ones perform alike"),
            "importance": Picture(f"{_SINGLE}:importance", "which nodes decide"),
            "learning": Picture(f"{_SINGLE}:learning", "how early rankings settle", CURVES),
            "curve": Picture(f"{_SINGLE}:curve", "how one row was trained", CURVES, of_one=True),
        }
    ),
    pictures_of_several=MappingProxyType(
        {
            "agreement": Picture(f"{_SEVERAL}:agreement", "how alike tables rank"),
            "map": Picture(f"{_SEVERAL}:dataset_map", "which datasets are alike"),
            "transfer": Picture(f"{_SEVERAL}:transfer", "how the best of one do on others"),
            "fidelity": Picture(f"{_SEVERAL}:fidelity", "a built table against its reference"),
        }
    ),
    report=f"{_HERE}.report:report_rows",
    view=f"{_HERE}.view:VIEW",
    commands=(
        f"{_HERE}.commands.compare",
        f"{_HERE}.commands.fidelity",
        f"{_HERE}.commands.analyse",
        f"{_HERE}.commands.across",
        f"{_HERE}.commands.predictors",
    ),
    analyses=MappingProxyType(
        {
            "CommonFronts": f"{_ANALYSIS}.common_fronts:CommonFronts",
            "DatasetMap": f"{_ANALYSIS}.datasets:DatasetMap",
            "Decomposition": f"{_ANALYSIS}.importance:Decomposition",
            "Fidelity": f"{_ANALYSIS}.fidelity:Fidelity",
            "Frequencies": f"{_ANALYSIS}.frequency:Frequencies",
            "Generalists": f"{_ANALYSIS}.generalists:Generalists",
            "Indistinct": f"{_ANALYSIS}.noise:Indistinct",
            "Landscape": f"{_ANALYSIS}.landscape:Landscape",
            "Noise": f"{_ANALYSIS}.noise:Noise",
            "PredictorScores": f"{_ANALYSIS}.predictors:PredictorScores",
            "Predictions": f"{_ANALYSIS}.surrogate:Predictions",
            "Settling": f"{_ANALYSIS}.learning:Settling",
            "Smoothness": f"{_ANALYSIS}.smoothness:Smoothness",
            "Surrogate": f"{_ANALYSIS}.surrogate:Surrogate",
            "adjusted_eta_squared": f"{_ANALYSIS}.importance:adjusted_eta_squared",
            "agreement": f"{_ANALYSIS}.agreement:agreement",
            "agreement_matrix": f"{_ANALYSIS}.agreement:agreement_matrix",
            "benchmark_predictors": f"{_ANALYSIS}.predictors:benchmark_predictors",
            "common_fronts": f"{_ANALYSIS}.common_fronts:common_fronts",
            "curves_left_out": f"{_ANALYSIS}.learning:curves_left_out",
            "dataset_map": f"{_ANALYSIS}.datasets:dataset_map",
            "decompose": f"{_ANALYSIS}.importance:decompose",
            "describe": f"{_ANALYSIS}.distribution:describe",
            "early_rank_correlation": f"{_ANALYSIS}.learning:early_rank_correlation",
            "eta_squared": f"{_ANALYSIS}.importance:eta_squared",
            "fidelity": f"{_ANALYSIS}.fidelity:fidelity",
            "fit_surrogate": f"{_ANALYSIS}.surrogate:fit_surrogate",
            "frequencies": f"{_ANALYSIS}.frequency:frequencies",
            "generalists": f"{_ANALYSIS}.generalists:generalists",
            "indistinct": f"{_ANALYSIS}.noise:indistinct",
            "landscape": f"{_ANALYSIS}.landscape:landscape",
            "link_frequencies": f"{_ANALYSIS}.frequency:link_frequencies",
            "metric_correlations": f"{_ANALYSIS}.distribution:metric_correlations",
            "node_importance": f"{_ANALYSIS}.importance:node_importance",
            "noise": f"{_ANALYSIS}.noise:noise",
            "op_frequencies": f"{_ANALYSIS}.frequency:op_frequencies",
            "seed_noise": f"{_ANALYSIS}.learning:seed_noise",
            "settling": f"{_ANALYSIS}.learning:settling",
            "smoothness": f"{_ANALYSIS}.smoothness:smoothness",
            "transfer_matrix": f"{_ANALYSIS}.transfer:transfer_matrix",
        }
    ),
    lists=MappingProxyType(
        {"spaces": f"{_HERE}.listing:spaces", "operations": f"{_HERE}.listing:operations"}
    ),
)
