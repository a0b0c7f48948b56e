"""Stub."""


def differences(myriad, path, plan):
    return None
