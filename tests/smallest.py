"""The least that each kind of object and of rule is written with: those that are not here need nothing."""

from typing import Any

OBJECTS: dict[str, dict[str, Any]] = {
    "Freeze": {"reason": "r"},
    "Signal": {"value": 1},
    "Policy": {"rules": []},
    "Version": {"deployment": "d", "tag": "t"},
}
RULES: dict[str, dict[str, Any]] = {
    "deploymentBracket": {"deploymentSelector": "true", "readinessWindowSeconds": 3},
    "resourceConcurrency": {"groupSelector": "true", "limitType": "count", "limitValue": 101},
    "gradualRollout": {"timeScaleInterval": 1},
    "deploymentDependency": {"dependsOn": "true"},
    "environmentProgression": {"dependsOnEnvironmentSelector": "true"},
    "deploymentWindow": {"rrule": "FREQ=DAILY", "durationMinutes": 3},
    "versionCooldown": {"intervalSeconds": 3},
    "versionSelector": {"selector": "true"},
    "retry": {"maxRetries": 1},
    "verification": {"metrics": [{"name": "m", "provider": {"type": "sleep", "durationSeconds": 1}}]},
    "gate": {"when": ["true"]},
    "failureBudget": {"maxFailed": 1},
}
