// Types that these packages lack.
declare module 'email-providers' {
	const domains: string[]
	export default domains
}
declare module 'mailchecker' {
	const mailchecker: { blacklist(): Set<string> }
	export default mailchecker
}
