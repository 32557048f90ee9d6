import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Select, TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Row } from '../parts/page.tsx'
import { useToast } from '../parts/toast.tsx'
import { useAct } from '../parts/use-act.ts'
import { useProject } from '../shell/projects.ts'
import { invitationsKey, isGivenRole, membersKey, roles } from './roles.ts'

export function Inviting() {
	const [isOpen, setOpen] = useState(false)
	return (
		<Row>
			<Button kind="primary" onClick={() => setOpen(true)}>
				Add a member
			</Button>
			<Dialog title="Add a member" isOpen={isOpen} onClose={() => setOpen(false)}>
				<NewMember close={() => setOpen(false)} />
			</Dialog>
		</Row>
	)
}

function NewMember({ close }: { close: () => void }) {
	const { project, api } = useProject()
	const toast = useToast()
	const { run, error, isBusy } = useAct(membersKey(project.id), invitationsKey(project.id))
	async function add(email: string, role: string) {
		const added = await api.projects.addMember(project.id, {
			email,
			role: isGivenRole(role) ? role : undefined,
		})
		close()
		toast({
			title:
				'invited' in added
					? `An invitation is on its way to ${added.email}`
					: `${added.email} is a member now, and is notified by mail`,
		})
	}
	return (
		<Form
			act="Add"
			isBusy={isBusy}
			error={error}
			cancel={close}
			onSubmit={(values) => run({ act: () => add(values.text('email'), values.text('role')) })}
		>
			<TextField
				name="email"
				label="Email address"
				type="email"
				hint="A person with an account becomes a member at once. Anybody else gets an invitation that works for seven days."
				error={error}
			/>
			<Select name="role" label="Role" options={roles} defaultValue="MEMBER" error={error} />
		</Form>
	)
}
