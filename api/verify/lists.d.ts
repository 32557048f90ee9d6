// What these packages do not say of themselves.
declare module 'email-providers' {
	const domains: string[]
	export default domains
}
declare module 'mailchecker' {
	const mailchecker: { blacklist(): Set<string> }
	export default mailchecker
}
