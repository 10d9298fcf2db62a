"""Deployment brackets: several deployments, one cycle on each resource.

`shape` says who is a hook and who comes before whom, `collecting` opens and closes windows, `locking` fixes versions,
`readiness` says when a group may start, `cycle` runs it, `merging` joins a later group, `putting_back` rolls back,
`operators` carries out what people order.
"""
