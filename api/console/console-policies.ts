/** The console: only its own files, and the styles that its libraries write with this nonce. */
export const pagePolicy = (nonce: string) =>
	[
		"default-src 'self'",
		"script-src 'self'",
		`style-src 'self' 'nonce-${nonce}'`,
		"img-src 'self' data: blob:",
		"object-src 'none'",
		"base-uri 'none'",
		"form-action 'self'",
		"frame-ancestors 'none'",
	].join('; ')

/**
 * The frame of a mail: the styles of the mail, our script that shows it, and nothing else. Images from elsewhere only when
 * the reader asks for them.
 */
export const mailPolicy = (origin: string, hasImages: boolean) =>
	[
		"default-src 'none'",
		`script-src ${origin}/console/assets/`,
		`style-src 'unsafe-inline' ${origin}/console/assets/`,
		`img-src data:${hasImages ? ' http: https:' : ''}`,
		`font-src data:${hasImages ? ' http: https:' : ''}`,
		"form-action 'none'",
		"base-uri 'none'",
		"frame-ancestors 'self'",
		'sandbox allow-scripts allow-popups allow-popups-to-escape-sandbox',
	].join('; ')
