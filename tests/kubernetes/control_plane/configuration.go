package main

import (
	"fmt"
	"os"
	"strings"

	nodestages "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	podstages "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
)

// Annotations by which a test says how a pod or a node behaves. Times are durations such as "2s"; what never happens
// has "24h".
const (
	readyAnnotation    = "headgate.test/ready-after"
	completeAnnotation = "headgate.test/complete-after" // pods of Jobs
	failAnnotation     = "headgate.test/fail-after"     // counts from when the pod runs
	goneAnnotation     = "headgate.test/gone-after"     // how long a deleted pod terminates
	downAnnotation     = "headgate.test/down"           // on a node: its conditions are left to the test
)

func (c *controlPlane) writeConfiguration() error {
	stages := []string{
		kwokConfiguration,
		withoutDownNodes(nodestages.DefaultNodeInit),
		after(readyAnnotation, podstages.DefaultPodReady),
		after(completeAnnotation, podstages.DefaultPodComplete),
		after(goneAnnotation, podstages.DefaultPodDelete),
		after(failAnnotation, failingPods),
	}
	if c.stages != "" {
		content, err := os.ReadFile(c.stages)
		if err != nil {
			return err
		}
		stages = append(stages, string(content))
	}
	return c.writeFiles([][2]string{
		{"kwok.yaml", strings.Join(stages, "\n---\n")},
		{"scheduler.yaml", fmt.Sprintf(schedulerConfiguration, c.path("own-kubeconfig"))},
		{"audit-policy.yaml", auditPolicy},
	})
}

// after delays a stage by the duration in an annotation; it plays at once where there is none.
func after(annotation, stage string) string {
	delay := fmt.Sprintf(`
  delay:
    durationMilliseconds: 0
    durationFrom:
      expressionFrom: '.metadata.annotations["%s"]'
  next:
`, annotation)
	return replaced(stage, "\n  next:\n", delay)
}

func withoutDownNodes(stage string) string {
	condition := fmt.Sprintf("    matchExpressions:\n    - key: '.metadata.annotations[\"%s\"]'\n      operator: 'DoesNotExist'\n", downAnnotation)
	return replaced(stage, "    matchExpressions:\n", condition)
}

func replaced(text, old, new string) string {
	if !strings.Contains(text, old) {
		panic("a stage of kwok is not written as it was: " + old)
	}
	return strings.Replace(text, old, new, 1)
}

const failingPods = `apiVersion: kwok.x-k8s.io/v1alpha1
kind: Stage
metadata:
  name: pod-fail
spec:
  resourceRef: {apiGroup: v1, kind: Pod}
  weight: 1
  selector:
    matchExpressions:
    - {key: '.metadata.deletionTimestamp', operator: DoesNotExist}
    - {key: '.status.phase', operator: In, values: [Running]}
    - {key: '.metadata.annotations["` + failAnnotation + `"]', operator: Exists}
  next:
    statusTemplate: |
      {{ $now := Now }}
      phase: Failed
      reason: Error
      containerStatuses:
      {{ range .spec.containers }}
      - name: {{ .name | Quote }}
        image: {{ .image | Quote }}
        ready: false
        restartCount: 0
        started: false
        state:
          terminated: {exitCode: 1, reason: Error, startedAt: {{ $now | Quote }}, finishedAt: {{ $now | Quote }}}
      {{ end }}
      conditions:
      - {type: Ready, status: "False", reason: PodFailed, lastTransitionTime: {{ $now | Quote }}}
      - {type: ContainersReady, status: "False", reason: PodFailed, lastTransitionTime: {{ $now | Quote }}}
`

// Without cidr and nodeIP, pods would be ready without an address, and Services without endpoints.
const kwokConfiguration = `apiVersion: config.kwok.x-k8s.io/v1alpha1
kind: KwokConfiguration
options:
  manageAllNodes: true
  cidr: 10.32.0.0/12
  nodeIP: 10.64.0.1
  nodeLeaseDurationSeconds: 40
  nodeLeaseParallelism: 8
  nodePlayStageParallelism: 16
  podPlayStageParallelism: 16
  podsOnNodeSyncParallelism: 8
`

// A pod that does not fit is tried again after one or two seconds, so that tests need not wait for ten.
const schedulerConfiguration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
clientConnection: {kubeconfig: %q, qps: 1000, burst: 2000}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 2
`

// Writes with what was sent and what came of it; reads to be counted; nothing of leases and events that the
// components themselves write all the time.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- level: None
  users: [` + ownUser + `]
  resources:
  - {group: coordination.k8s.io, resources: [leases]}
  - {group: "", resources: [events]}
  - {group: events.k8s.io, resources: [events]}
- level: None
  users: [` + ownUser + `]
  verbs: [get, list, watch]
- level: RequestResponse
  verbs: [create, update, patch, delete, deletecollection]
- level: Metadata
`
