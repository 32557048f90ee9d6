import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { userQuery } from '../accounts/user.ts'
import { configQuery } from '../config.ts'
import { domainsQuery } from '../domains/domains-query.ts'
import { Code } from '../parts/copy.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { useProject } from '../shell/projects.ts'
import { type Example as Command, localKey } from './examples.ts'
import { freshKey } from './fresh-keys.ts'

/** A command that works as it is: with the key that was just made, or with the one that `npm start` keeps. */
export function Example({ of }: { of: Command }) {
	const current = useProject()
	const { project } = current
	const { data: config } = useQuery(configQuery)
	const { data: user } = useQuery(userQuery)
	const { data: domains } = useQuery(domainsQuery(current))
	const key = freshKey(project.id)
	if (!domains) return <Waiting rows={3} />
	const values = {
		url: location.origin,
		domain: domains.find(({ verified }) => verified)?.domain ?? 'example.com',
		reader: user?.email ?? 'you@example.com',
	}
	if (key) return <Code name="example" text={of({ ...values, key })} />
	const isLocal = config?.features.mailbox.enabled === true
	const command = of({ ...values, key: '$TEMPOST_SECRET_KEY' })
	return (
		<>
			<p>
				{isLocal
					? 'Run this in the folder of npm start, which keeps the keys of its first project. '
					: 'Set TEMPOST_SECRET_KEY to the secret key of this project. '}
				The key ends in <code>{project.secret.slice(-4)}</code>. If it is lost,{' '}
				<Link to={`/console/${project.id}/settings/keys` as '/'}>make new keys</Link>.
			</p>
			<Code name="example" text={isLocal ? `${localKey}\n${command}` : command} />
		</>
	)
}
