"""What is said to an OpenID Connect provider, and what of its answers is believed; imported on first use."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from httpx2 import HTTPError
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import JWSRegistry

from nexus_core.config import settings
from nexus_core.errors import NexusError
from nexus_core.i18n import _

SECONDS = 10.0
LEEWAY = 60
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures that only the provider can make: none of those that whoever knows the client's secret makes, too."""
_log = logging.getLogger(__name__)


class ProviderFailed(NexusError):
    """The identity provider can't be reached, or answers what it must not."""

    status = 502
    code = "provider_failed"


class Asked(Protocol):
    """What the answer has to fit: the attempt that a browser began."""

    @property
    def state(self) -> str: ...
    @property
    def nonce(self) -> str: ...
    @property
    def verifier(self) -> str: ...


def authorize(redirect_uri: str, attempt: Asked) -> str:
    """The provider's address to which a browser is sent. Raises ProviderFailed."""
    with _speaking(redirect_uri) as client:
        where = _metadata(client)["authorization_endpoint"]
        url, _state = client.create_authorization_url(
            where, state=attempt.state, code_verifier=attempt.verifier, nonce=attempt.nonce
        )
        return str(url)


def claims(redirect_uri: str, code: str, attempt: Asked) -> dict[str, Any]:
    """What the provider says of a person: the ID token's claims, checked, and what its userinfo adds.

    Raises ProviderFailed.
    """
    with _speaking(redirect_uri) as client:
        return _claims(client, code, attempt)


@contextmanager
def _speaking(redirect_uri: str) -> Iterator[Any]:
    try:
        with _client(redirect_uri) as client:
            yield client
    except (HTTPError, AuthlibBaseError, JoseError, ValueError, KeyError, TypeError) as error:
        _log.warning("sign-in by the identity provider failed: %s: %s", type(error).__name__, error)
        raise ProviderFailed(_("The identity provider did not let this sign-in be completed; try again.")) from error


def _client(redirect_uri: str) -> Any:
    chosen = settings()
    secret = chosen.oidc_client_secret
    return OAuth2Client(
        chosen.oidc_client_id,
        secret.get_secret_value() if secret else None,
        scope=chosen.oidc_scopes,
        redirect_uri=redirect_uri,
        code_challenge_method="S256",
        token_endpoint_auth_method="client_secret_basic" if secret else "none",
        timeout=SECONDS,
    )


def _metadata(client: Any) -> dict[str, Any]:
    found: dict[str, Any] = _json(
        client, f"{settings().oidc_issuer}/.well-known/openid-configuration", withhold_token=True
    )
    if str(found.get("issuer", "")).rstrip("/") != settings().oidc_issuer:
        raise ValueError("the provider says that it is another one")
    return found


def _json(client: Any, url: str, **options: Any) -> Any:
    answer = client.request("GET", url, **options)
    answer.raise_for_status()
    return answer.json()


def _claims(client: Any, code: str, attempt: Asked) -> dict[str, Any]:
    found = _metadata(client)
    token = client.fetch_token(found["token_endpoint"], code=code, code_verifier=attempt.verifier)
    known = KeySet.import_key_set(_json(client, found["jwks_uri"], withhold_token=True))
    offered = found.get("id_token_signing_alg_values_supported") or ["RS256"]
    registry = JWSRegistry(algorithms=[one for one in offered if one in ALGORITHMS], strict_check_header=False)
    signed = jwt.decode(token["id_token"], key=known, registry=registry)
    about = {"nonce": attempt.nonce, "client_id": settings().oidc_client_id, "access_token": token.get("access_token")}
    expected = {
        "iss": {"essential": True, "values": [found["issuer"]]},
        "aud": {"essential": True, "values": [settings().oidc_client_id]},
        "nonce": {"essential": True},
    }
    checked = CodeIDToken(signed.claims, signed.header, expected, about)
    checked.validate(leeway=LEEWAY)
    claims = dict(checked)
    if "userinfo_endpoint" in found and not {"email", settings().oidc_groups_claim} <= claims.keys():
        more = _json(client, found["userinfo_endpoint"])
        claims = (more if more.get("sub") == claims["sub"] else {}) | claims
    return claims
