"""Fleets of any size under the node-lifecycle policy: hooks, an ordered bracket, a limit and a gradual rollout."""

from headgate.fleet.engine import manifests
from headgate.fleet.engine.engine import Engine
from headgate.fleet.model import changes
from headgate.fleet.model import objects as model
from headgate.kernel import identifiers, instants

START = instants.parse("2026-03-01T09:00:00Z")
DAY = instants.seconds(86_400)

IDS = identifiers.NamedIds("bench")


def names(deployments: int) -> list[str]:
    """A drain, an uncordon, and upgrades between them."""
    return ["node-drain", *(f"upgrade-{number:02}" for number in range(deployments - 2)), "node-uncordon"]


def policy(deployments: int, limit_percent: int = 20, interval_seconds: int = 300) -> dict[str, object]:
    upgrades = names(deployments)[1:-1]
    return {
        "name": "Node Lifecycle",
        "selector": "deployment.metadata['layer'] == 'node'",
        "rules": [
            {
                "deploymentBracket": {
                    "deploymentSelector": "deployment.metadata['layer'] == 'node'",
                    "readinessMode": "collection_window",
                    "readinessWindowSeconds": 86_400,
                }
            },
            {
                "resourceConcurrency": {
                    "groupSelector": "resource.metadata['cluster'] == 'prod-east'",
                    "limitType": "percentage",
                    "limitValue": limit_percent,
                }
            },
            {"gradualRollout": {"rolloutType": "linear", "timeScaleInterval": interval_seconds}},
            {
                "deploymentDependency": {
                    "dependsOn": "deployment.name == 'node-drain'",
                    "appliesTo": "deployment.name.startsWith('upgrade-')",
                }
            },
            {
                "deploymentDependency": {
                    "dependsOn": f"deployment.name == '{upgrades[0]}'",
                    "appliesTo": f"deployment.name.startsWith('upgrade-') && deployment.name != '{upgrades[0]}'",
                }
            },
            {
                "deploymentDependency": {
                    "dependsOn": "deployment.name.startsWith('upgrade-')",
                    "appliesTo": "deployment.name == 'node-uncordon'",
                }
            },
        ],
    }


def documents(deployments: int, resources: int, **options: int) -> list[dict[str, object]]:
    manifest = {"apiVersion": "headgate.dev/v1"}
    found: list[dict[str, object]] = [
        policy(deployments, **options),
        {
            **manifest,
            "kind": "Environment",
            "metadata": {"name": "prod"},
            "spec": {"resourceSelector": "resource.metadata['cluster'] == 'prod-east'"},
        },
    ]
    found += [
        {
            **manifest,
            "kind": "Deployment",
            "metadata": {"name": name},
            "spec": {"resourceSelector": "resource.kind == 'KubernetesNode'", "metadata": {"layer": "node"}},
        }
        for name in names(deployments)
    ]
    found += [
        {
            **manifest,
            "kind": "Resource",
            "metadata": {"name": f"node-{number:05}"},
            "spec": {"kind": "KubernetesNode", "metadata": {"cluster": "prod-east"}},
        }
        for number in range(resources)
    ]
    return found


def parsed(deployments: int, resources: int) -> list[changes.Object]:
    return [manifests.parse(document, IDS, START) for document in documents(deployments, resources)]  # type: ignore[misc]


def built(objects: list[changes.Object]) -> Engine:
    engine = Engine(IDS)
    for thing in objects:
        engine.apply(changes.Put(thing), START)
    engine.decide(START)
    return engine


def version(deployment: str, tag: str) -> changes.Put:
    return changes.Put(
        model.Version(
            id=IDS.new("Version", f"{deployment}/{tag}"),
            name=tag,
            deployment=deployment,
            tag=tag,
            created_at=0,
        )
    )
