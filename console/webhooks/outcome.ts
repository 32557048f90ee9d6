interface Outcome {
	status: number | null
	error: string | null
	durationMs: number
}

export const isAccepted = ({ status }: Outcome) => status !== null && status >= 200 && status < 300

/** How an endpoint answered, with the network's codes in words. */
export function outcomeInWords({ status, error, durationMs }: Outcome) {
	if (status !== null) return `${status} in ${duration(durationMs)}`
	return error === null ? 'No answer' : networkInWords(error)
}

export const networkInWords = (error: string) => network[error] ?? error

const network: Record<string, string> = {
	ECONNREFUSED: 'Nothing listens at this address',
	ECONNRESET: 'The connection was closed before an answer',
	ENOTFOUND: 'The host name does not exist',
	EAI_AGAIN: 'DNS did not answer for the host name',
	EHOSTUNREACH: 'The host cannot be reached',
	ENETUNREACH: 'The network cannot be reached',
	EPROTO: 'It does not speak TLS',
	CERT_HAS_EXPIRED: 'Its certificate has expired',
	DEPTH_ZERO_SELF_SIGNED_CERT: 'Its certificate is self-signed',
	SELF_SIGNED_CERT_IN_CHAIN: 'Its certificate is self-signed',
	UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'Its certificate cannot be verified',
	ERR_TLS_CERT_ALTNAME_INVALID: 'Its certificate is for another host name',
}

export const duration = (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)
