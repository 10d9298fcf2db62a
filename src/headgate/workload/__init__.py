"""The workload level: pod clique sets, updated replica by replica, group by group, pod by pod."""
