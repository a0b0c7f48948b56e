"""A small validator for the part of JSON Schema that docs/schema/ uses, written from its rules.

Every object must name all its keys ('required') and allow no other ('additionalProperties': false),
unless an object is a map by nature ('additionalProperties': SCHEMA). The one key that may be absent
is 'timing' of a whole answer: it is there with --timing only. A schema that uses a word this
validator does not know is an error: a check must not pass because it was not understood.
"""
import re

KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "properties",
         "required", "additionalProperties", "items", "enum", "const", "anyOf", "minimum",
         "maximum", "pattern", "minItems"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def answer_well_formed(schema, name):
    """What is wrong with the schema of the answer of that name ('myriad.fit')."""
    yield from well_formed(schema)
    properties = schema.get("properties", {})
    if properties.get("schema") != {"const": name}:
        yield f"$.schema: {{'const': '{name}'}} is expected"
    timing = properties.get("timing", {}).get("properties", {})
    if not {"wall_s", "cpu_s", "memory_mib"} <= set(timing):
        yield f"$.timing: has {sorted(timing)}"


def well_formed(schema, path="$"):
    """What is wrong with the schema itself."""
    for word in schema:
        if word not in KNOWN:
            yield f"{path}: '{word}' is not understood"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if "object" in kinds:
        if "additionalProperties" not in schema:
            yield f"{path}: an object without 'additionalProperties'"
        properties = set(schema.get("properties", {})) - ({"timing"} if path == "$" else set())
        if properties != set(schema.get("required", [])):
            yield f"{path}: 'required' is not all of 'properties': " \
                  f"{sorted(properties ^ set(schema.get('required', [])))}"
    if "array" in kinds and "items" not in schema:
        yield f"{path}: a list without 'items'"
    for key, child in schema.get("properties", {}).items():
        yield from well_formed(child, f"{path}.{key}")
    for key, child in schema.get("$defs", {}).items():
        yield from well_formed(child, f"$defs.{key}")
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            yield from well_formed(schema[word], f"{path}[{word}]")
    for i, child in enumerate(schema.get("anyOf", [])):
        yield from well_formed(child, f"{path}|{i}")


def validate(value, schema, root=None, path="$"):
    """Yields what in 'value' the schema does not allow."""
    root = root or schema
    if "$ref" in schema:
        target = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        yield from validate(value, target, root, path)
        return
    if "anyOf" in schema:
        tries = [list(validate(value, option, root, path)) for option in schema["anyOf"]]
        if all(tries):
            yield min(tries, key=len)[0]
        return
    kinds = schema.get("type")
    if kinds is not None:
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if not any(is_type(value, kind) for kind in kinds):
            yield f"{path}: {str(value)[:40]!r} is not {' or '.join(kinds)}"
            return
    if "const" in schema and value != schema["const"]:
        yield f"{path}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is not one of {schema['enum']}"
    if "minimum" in schema and is_type(value, "number") and value < schema["minimum"]:
        yield f"{path}: {value} is below {schema['minimum']}"
    if "maximum" in schema and is_type(value, "number") and value > schema["maximum"]:
        yield f"{path}: {value} is above {schema['maximum']}"
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        yield f"{path}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, dict):
        yield from validate_object(value, schema, root, path)
    if isinstance(value, list) and "items" in schema:
        if len(value) < schema.get("minItems", 0):
            yield f"{path}: {len(value)} items"
        for i, item in enumerate(value):
            yield from validate(item, schema["items"], root, f"{path}[{i}]")


def validate_object(value, schema, root, path):
    properties = schema.get("properties", {})
    for key in schema.get("required", []):
        if key not in value:
            yield f"{path}: '{key}' is missing"
    others = schema.get("additionalProperties", False)
    for key, child in value.items():
        if key in properties:
            yield from validate(child, properties[key], root, f"{path}.{key}")
        elif others is False:
            yield f"{path}: '{key}' is not in the schema"
        elif isinstance(others, dict):
            yield from validate(child, others, root, f"{path}.{key}")


def infer(values, path=()):
    """A first schema from samples, to be read and sharpened by hand."""
    kinds = sorted({kind_of(value) for value in values})
    if kinds == ["integer", "number"] or kinds == ["integer", "null", "number"]:
        kinds.remove("integer")
    schema = {"type": kinds[0] if len(kinds) == 1 else kinds}
    objects = [value for value in values if isinstance(value, dict)]
    if objects:
        keys = list(dict.fromkeys(key for value in objects for key in value))
        if path == ("question", "options"):
            schema["additionalProperties"] = True
            return schema
        schema["properties"] = {key: infer([value[key] for value in objects if key in value],
                                           path + (key,)) for key in keys}
        schema["required"] = keys
        schema["additionalProperties"] = False
    lists = [value for value in values if isinstance(value, list)]
    if lists:
        items = [item for value in lists for item in value]
        schema["items"] = infer(items, path + ("[]",)) if items else {}
    return schema


def kind_of(value):
    for name, kind in TYPES.items():
        if isinstance(value, kind):
            return name
    return "integer" if isinstance(value, int) else "number"
