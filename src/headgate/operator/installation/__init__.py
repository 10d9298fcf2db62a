"""What is installed on a cluster: roles, webhooks, the Deployment of the operator, and the chart made of them."""
