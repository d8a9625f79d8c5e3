"""Checksums of the manifests that come with the package, which have none of their own.

They are of schema version 1. A manifest of that version that names the summary of one of these
tables must be that table's, byte for byte. What is bundled later has its checksum in itself, so
this list never grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

DIGITS = 16

BUNDLED_MANIFESTS: Mapping[str, str] = MappingProxyType(
    {
        "fc3a36fbbe094d45": "924bc5ccdd1b07a309c600d54ebcf0aa5fda91623f106f0de15bfa3ee1416a65",
        "ef61a53a4196251e": "30cc5d9ffab7ac5ed238840b99f99bd2fca81d7ad7c1df3715aafd07f063febf",
        "33027d188c0ae964": "ab9f80a6b1042c19b6d96999e7cac68b0d8154ffc7af096261d3ab9bc0cd8be1",
        "4aa6c6c3a243dbcb": "f342e95513ac98e6d0530a41d250193b19f1dfcf97dbd5c39da8848a2c2d4732",
        "816c252fc51fd541": "7e236e3b5963deed106c36dcf04665ed022f5ee59257c1a04a124b7c41716ac2",
        "a271954fb647e041": "5c9797f6b57c7712170ffe66cb001e5e965ac7d71f22cf845103e3419c8a53d2",
        "5d513a2ca1e6757c": "a8810ed7a339d91875eed17b8389e5e312c89b2a52577ba74d7b143bfbe3d940",
        "7dbe421a0dcbb4a3": "234858beab7230672e0c1f0655bda85c002c434d0e70b5fb092893acdd541bf2",
        "9d3de691231fa48c": "4f2bf84236cfba0dfcac7c7cbfa20b6ca3e3993bd5420f4b5668b8af9de0aaa0",
        "84ea432bd311149b": "18c46fbd822d0eef4b491d93ce489f93da001ecf61367fbdf73df7fa69d51223",
        "1c90ebd83146f9b9": "2c37169a1743a18f75ba5d75c63a1a1bf8ac148fbe36149c81abe56ec8c5bed2",
        "6624ec172cc3c55f": "561e99f7b9d1205df97b7c557f964d510c53009e0aaaa5a1bd54f1b845705f36",
        "4dae48a92c91e1e3": "e9b96e038f9163216b4452af735757ae530f908e311767d8344ac8f79e89ab0e",
        "76148b94b9bca4d7": "4f683ceb3f252fc23b889cdf2c7e76d39c8c9834c63a8b5270d468dde32fa8e5",
        "df3791f2614902a5": "d8b7f215bffbe7673e0288a19c156a1a3bb19a6721b0f7dddea452826536cf4c",
        "7fc0612ba4d38a11": "81ee3359b18298999694b72d9e2f7c44aafe0199654e53b7c504b13514954922",
    }
)
"""By the first `DIGITS` of the SHA-256 of a bundled summary: that of the manifest beside it."""
