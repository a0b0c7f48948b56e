"""A torch without numbers, and just enough of transformers' frame around it.

Public modelling code is run as it is: only what allocates and computes is replaced by shapes, so
that a model's constructor can be called where there is no torch and its parameters be summed.
Nothing of the code that is read is kept.
"""

import importlib
import importlib.abc
import importlib.machinery
import math
import sys
import types


class Shape:
    """A tensor of which only the shape is known; whatever is computed of it is one too."""

    def __init__(self, *size):
        self.shape = tuple(int(n) for n in size)

    def numel(self):
        return math.prod(self.shape)

    def unsqueeze(self, _dim):
        return Shape(*self.shape, 1)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *a, **k: self

    def _same(self, *_a):
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _same
    __rtruediv__ = __pow__ = __rpow__ = __neg__ = __getitem__ = __lt__ = __matmul__ = _same

    def __setitem__(self, *_a):
        pass


class Parameter(Shape):
    def __init__(self, data=None, requires_grad=True):
        super().__init__(*(data.shape if isinstance(data, Shape) else ()))


class Buffer(Shape):
    def __init__(self, data=None, persistent=True):
        super().__init__(*(data.shape if isinstance(data, Shape) else ()))
        self.persistent = persistent


class Module:
    def __init__(self, *_a, **_k):
        self.__dict__.setdefault("_buffer_shapes", {})
        self.training = False

    def register_buffer(self, name, data, persistent=True):
        self.__dict__.setdefault("_buffer_shapes", {})
        if persistent and isinstance(data, Shape):
            self._buffer_shapes[name] = data
        object.__setattr__(self, name, data)

    def register_parameter(self, name, data):
        object.__setattr__(self, name, data)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *a, **k: self if name in {"to", "apply", "requires_grad_"} else None

    def children(self):
        return [(k, v) for k, v in self.__dict__.items() if isinstance(v, Module)]

    def named_parameters(self, prefix="", seen=None):
        seen = set() if seen is None else seen
        for name, value in list(self.__dict__.items()):
            if isinstance(value, Parameter) and id(value) not in seen:
                seen.add(id(value))
                yield prefix + name, value
        for name, child in self.children():
            if id(child) not in seen:
                seen.add(id(child))
                yield from child.named_parameters(prefix + name + ".", seen)

    def named_buffers(self, prefix=""):
        for name, value in self.__dict__.items():
            if isinstance(value, Buffer) and value.persistent:
                yield prefix + name, value
        for name, value in self.__dict__.get("_buffer_shapes", {}).items():
            yield prefix + name, value
        for name, child in self.children():
            yield from child.named_buffers(prefix + name + ".")


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, **_k):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter(Shape(out_features, in_features))
        self.bias = Parameter(Shape(out_features)) if bias else None


class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None, **_k):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.weight = Parameter(Shape(num_embeddings, embedding_dim))


def as_size(shape):
    return shape if isinstance(shape, (tuple, list)) else (shape,)


class LayerNorm(Module):
    def __init__(self, normalized_shape, eps=1e-5, elementwise_affine=True, bias=True,
                 *_a, **_k):
        super().__init__()
        size = as_size(normalized_shape)
        self.weight = Parameter(Shape(*size)) if elementwise_affine else None
        self.bias = Parameter(Shape(*size)) if elementwise_affine and bias else None


class RMSNorm(Module):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, **_k):
        super().__init__()
        size = as_size(normalized_shape)
        self.weight = Parameter(Shape(*size)) if elementwise_affine else None


class Conv1d(Module):
    def __init__(self, in_channels, out_channels, kernel_size, groups=1, bias=True, **_k):
        super().__init__()
        self.weight = Parameter(Shape(out_channels, in_channels // groups, kernel_size))
        self.bias = Parameter(Shape(out_channels)) if bias else None


class ModuleList(Module):
    def __init__(self, modules=()):
        super().__init__()
        self._count = 0
        self.extend(modules)

    def append(self, module):
        setattr(self, str(self._count), module)
        self._count += 1
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def __len__(self):
        return self._count

    def __getitem__(self, i):
        return getattr(self, str(i % self._count))

    def __iter__(self):
        return iter([getattr(self, str(i)) for i in range(self._count)])


class Sequential(ModuleList):
    def __init__(self, *modules):
        super().__init__(modules)


class ModuleDict(Module):
    def __init__(self, modules=None):
        super().__init__()
        for name, module in dict(modules or {}).items():
            setattr(self, name, module)

    def __getitem__(self, name):
        return getattr(self, name)


class Anything:
    """A name whose value does not decide any shape: decorators, helpers, constants."""

    def __init__(self, name="anything"):
        self._name = name

    def __call__(self, *args, **kwargs):
        alone = len(args) == 1 and not kwargs and callable(args[0])
        if alone and not isinstance(args[0], Anything):
            return args[0]  # a decorator leaves what it stands before
        return Anything(self._name + "()")

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(self._name + "." + name)

    def __getitem__(self, _key):
        return Anything(self._name + "[]")

    def __iter__(self):
        return iter(())

    def __bool__(self):
        return False

    def _same(self, *_a):
        return self

    __or__ = __ror__ = __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __neg__ = _same

    def __contains__(self, _item):
        return False

    def __mro_entries__(self, _bases):
        return (Empty,)


class Open(type):
    """Names inside a class that is only a name."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything(name)

    def __or__(cls, _other):
        return cls

    __ror__ = __or__


class Empty(metaclass=Open):
    """What a class from elsewhere is when only its name is used: a mixin, an output, a type."""

    def __init__(self, *_a, **_k):
        pass

    def __class_getitem__(cls, _item):
        return cls


def new_shape(*size, **_k):
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = size[0]
    return Shape(*size)


class Blank(types.ModuleType):
    """A module in which every name stands for something."""

    __path__ = []

    def __getattr__(self, name):
        if name == "__version__":
            return "9.0.0"
        if name.startswith("__"):
            raise AttributeError(name)
        if name[:1].isupper() and not name.isupper():
            value = Open(name, (Empty,), {})
        else:
            value = Anything(name)
        setattr(self, name, value)
        return value


def make_torch():
    torch = Blank("torch")
    nn = Blank("torch.nn")
    for it in (Module, Parameter, Buffer, Linear, Embedding, LayerNorm, RMSNorm, Conv1d, ModuleList,
               Sequential, ModuleDict):
        setattr(nn, it.__name__, it)
    for name in ("Dropout", "SiLU", "GELU", "ReLU", "Identity", "Sigmoid", "Tanh", "ReLU6",
                 "Softmax", "LeakyReLU", "Hardswish", "Mish", "Softplus"):
        setattr(nn, name, type(name, (Module,), {}))
    nn.functional = Blank("torch.nn.functional")
    nn.init = Blank("torch.nn.init")
    torch.nn = nn
    torch.Tensor = Shape
    for name in ("empty", "zeros", "ones", "rand", "randn"):
        setattr(torch, name, new_shape)
    torch.full = lambda size, *_a, **_k: new_shape(size)
    torch.tensor = lambda data, **_k: (Shape(len(data)) if isinstance(data, (list, tuple))
                                       else Shape())
    torch.arange = lambda *a, **_k: Shape(len(range(*[int(x) for x in a])) if all(
        isinstance(x, (int, float)) for x in a) else 1)
    for name in ("log", "expm1", "exp", "tril", "triu", "sqrt"):
        setattr(torch, name, lambda x, *a, **k: x)
    torch.cat = lambda parts, **_k: parts[0]
    torch.outer = lambda a, b: Shape(*a.shape, *b.shape)
    return torch


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """torch, and all of transformers that is not listed as real, become blank modules."""

    def __init__(self, root):
        self.root = root

    @staticmethod
    def real(name):
        if name.startswith("transformers.models.auto"):
            return False  # a table of all models, which no single one needs
        return name.startswith("transformers.models.") or name == "transformers.activations"

    def find_spec(self, name, path, target=None):
        top = name.split(".")[0]
        if top in {"torch", "huggingface_hub", "numpy", "packaging", "safetensors", "einops"}:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        folder = name.startswith("transformers.models.") and name.count(".") == 2
        if top == "transformers" and (folder or not self.real(name)):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Blank(spec.name)

    def exec_module(self, module):
        # A model's folder is a real one, without what its own __init__ would load lazily.
        name = module.__name__
        folder = name.startswith("transformers.models.") and name.count(".") == 2
        module.__path__ = [self.root + "/models/" + name.split(".")[2]] if folder else []


def install(root):
    """Makes 'transformers.models.X' importable from a checkout's src/transformers."""
    torch = make_torch()
    sys.modules["torch"] = torch
    sys.modules["torch.nn"] = torch.nn
    sys.modules["torch.nn.functional"] = torch.nn.functional
    sys.modules["torch.nn.init"] = torch.nn.init

    sys.meta_path.insert(0, Finder(root))
    package = Blank("transformers")
    package.__path__ = [root]
    sys.modules["transformers"] = package
    models = types.ModuleType("transformers.models")
    models.__path__ = [root + "/models"]
    sys.modules["transformers.models"] = models
    return torch
