// Commands that work as they are.

export const firstMail = (url: string, key: string) =>
	curl(url, key, '/v1/send', {
		to: 'you@example.com',
		from: 'hello@example.com',
		subject: 'Hello',
		body: '<p>It works.</p>',
	})

export const firstContact = (url: string, key: string) =>
	curl(url, key, '/contacts', { email: 'ann@example.org', data: { firstName: 'Ann', plan: 'pro' } })

const curl = (url: string, key: string, path: string, body: object) =>
	[
		`curl ${url}${path} \\`,
		`  -H "Authorization: Bearer ${key}" \\`,
		'  -H "Content-Type: application/json" \\',
		`  -d '${JSON.stringify(body)}'`,
	].join('\n')
