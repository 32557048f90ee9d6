import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { configQuery } from '../config.ts'
import { Code } from '../parts/copy.tsx'
import { useProject } from '../shell/projects.ts'
import { type Example as Command, localKey } from './examples.ts'
import { freshKey } from './fresh-keys.ts'

/** A command that works as it is: with the key that was just made, or with the one that `npm start` keeps. */
export function Example({ of }: { of: Command }) {
	const { project } = useProject()
	const { data: config } = useQuery(configQuery)
	const key = freshKey(project.id)
	if (key) return <Code name="example" text={of(location.origin, key)} />
	const isLocal = config?.features.mailbox.enabled === true
	const command = of(location.origin, '$TEMPOST_SECRET_KEY')
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
