const words: Record<string, string> = {
	ECONNREFUSED: 'Nothing listens at this address',
	ECONNRESET: 'The connection was closed before an answer',
	EPIPE: 'The connection was closed before an answer',
	ENOTFOUND: 'The host name does not exist',
	ENODATA: 'The host name has no address',
	EAI_AGAIN: 'DNS did not answer for the host name',
	ESERVFAIL: 'DNS did not answer for the host name',
	EHOSTUNREACH: 'The host cannot be reached',
	ENETUNREACH: 'The network cannot be reached',
	ETIMEDOUT: 'The host did not answer in time',
	EPROTO: 'It does not speak TLS',
	CERT_HAS_EXPIRED: 'Its certificate has expired',
	DEPTH_ZERO_SELF_SIGNED_CERT: 'Its certificate is self-signed',
	SELF_SIGNED_CERT_IN_CHAIN: 'Its certificate is self-signed',
	UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'Its certificate cannot be verified',
	UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'Its certificate cannot be verified',
	ERR_TLS_CERT_ALTNAME_INVALID: 'Its certificate is for another host name',
}

const families: [start: string, words: string][] = [
	['HPE_', 'It did not answer by HTTP'],
	['ERR_SSL_', 'It does not speak TLS as this server does'],
]

/** A fault of the network for people who may not know its code, which follows for those who do. */
export function inWords(code: string) {
	const family = families.find(([start]) => code.startsWith(start))
	return `${words[code] ?? family?.[1] ?? 'The connection failed'} (${code})`
}
