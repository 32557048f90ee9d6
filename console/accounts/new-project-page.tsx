import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { ownApi } from '../client.ts'
import { buttonClass } from '../parts/button.tsx'
import { Copyable } from '../parts/copy.tsx'
import { TextField } from '../parts/field.tsx'
import { Facts } from '../parts/figures.tsx'
import { Form } from '../parts/form.tsx'
import { Row } from '../parts/page.tsx'
import { projectsQuery } from '../shell/projects.ts'
import { keepFreshKey } from '../start/fresh-keys.ts'
import { AccountFrame } from './account-frame.tsx'

export const page = createLazyRoute('/console/new-project')({ component: NewProjectPage })

function NewProjectPage() {
	const queries = useQueryClient()
	const create = useMutation({
		// The answer contains the secret key, which must not outlive this page.
		gcTime: 0,
		mutationFn: (name: string) => ownApi.projects.create({ name }),
		onSuccess: ({ id, secret }) => {
			keepFreshKey(id, secret)
			return queries.invalidateQueries({ queryKey: projectsQuery.queryKey })
		},
	})
	const made = create.data
	if (made)
		return (
			<AccountFrame title={made.name}>
				<p>
					These are the keys of the project. The secret key is shown only now: keep it on your
					server.
				</p>
				<Facts
					facts={[
						['Secret key', <Copyable text={made.secret} />],
						['Public key', <Copyable text={made.public} />],
					]}
				/>
				<Row>
					<Link
						to="/console/$projectId"
						params={{ projectId: made.id }}
						className={buttonClass('primary')}
					>
						I have kept the key
					</Link>
				</Row>
			</AccountFrame>
		)
	return (
		<AccountFrame title="New project">
			<p>A project has its own contacts, mails, domains and keys.</p>
			<Form
				act="Create the project"
				isBusy={create.isPending}
				error={create.error}
				onSubmit={(values) => create.mutate(values.text('name'))}
			>
				<TextField name="name" label="Name" autoFocus error={create.error} />
			</Form>
		</AccountFrame>
	)
}
