myriad plan examples/h100-64.yaml -o json > plan.json
myriad plan examples/h100-64.yaml -o yaml | cmp - plan.json && echo the same document: JSON is YAML
