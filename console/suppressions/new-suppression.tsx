import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useAct } from '../parts/use-act.ts'
import { useProject } from '../shell/projects.ts'

export function NewSuppression() {
	const [isOpen, setOpen] = useState(false)
	return (
		<>
			<Button onClick={() => setOpen(true)}>Add an address</Button>
			<Dialog title="Add an address" isOpen={isOpen} onClose={() => setOpen(false)}>
				<NewAddress close={() => setOpen(false)} />
			</Dialog>
		</>
	)
}

function NewAddress({ close }: { close: () => void }) {
	const { project, api } = useProject()
	const { run, error, isBusy } = useAct([project.id, 'suppressions'])
	return (
		<Form
			act="Add"
			isBusy={isBusy}
			error={error}
			cancel={close}
			onSubmit={(values) => {
				const email = values.text('email')
				run({
					act: async () => {
						await api.suppressions.create({ email })
						close()
					},
					said: `${email} gets no mail from this project`,
				})
			}}
		>
			<TextField
				name="email"
				label="Email address"
				type="email"
				hint="It gets no more mail of any kind, receipts included."
				error={error}
			/>
		</Form>
	)
}
