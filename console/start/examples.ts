// Commands that work as they are.

export interface Values {
	url: string
	key: string
	/** Verified for the project. */
	domain: string
	/** The address of the person who is logged in. */
	reader: string
}

export type Example = (values: Values) => string

/** Reads the key that `npm start` keeps. */
export const localKey = `TEMPOST_SECRET_KEY=$(node -p "JSON.parse(fs.readFileSync('.data/local.json')).secretKey")`

export const firstMail: Example = ({ url, key, domain, reader }) =>
	curl(url, key, '/v1/send', {
		to: reader,
		from: `hello@${domain}`,
		subject: 'Hello',
		body: '<p>It works.</p>',
	})

export const firstContact: Example = ({ url, key }) =>
	curl(url, key, '/contacts', { email: 'ann@example.org', data: { firstName: 'Ann', plan: 'pro' } })

const curl = (url: string, key: string, path: string, body: object) =>
	[
		`curl ${url}${path} \\`,
		`  -H "Authorization: Bearer ${key}" \\`,
		'  -H "Content-Type: application/json" \\',
		`  -d '${JSON.stringify(body)}'`,
	].join('\n')
