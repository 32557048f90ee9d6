import { useMutation, useQuery } from '@tanstack/react-query'
import { userQuery } from '../accounts/user.ts'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useToast } from '../parts/toast.tsx'

interface Props {
	isOpen: boolean
	onClose: () => void
	/** The API's name of the field for the address. */
	field: 'to' | 'email'
	/** Saves what is unsaved, and sends. */
	send: (to: string) => Promise<{ message: string }>
	isChanged: boolean
}

/** Sends the mail to one address, before anybody else gets it. */
export const TestDialog = ({ isOpen, onClose, ...props }: Props) => (
	<Dialog title="Send a test" isOpen={isOpen} onClose={onClose}>
		<TestForm {...props} onSent={onClose} />
	</Dialog>
)

function TestForm({
	field,
	send,
	isChanged,
	onSent,
}: Omit<Props, 'isOpen' | 'onClose'> & { onSent: () => void }) {
	const toast = useToast()
	const { data: user } = useQuery(userQuery)
	const { mutate, error, isPending } = useMutation({
		mutationFn: send,
		onSuccess: ({ message }) => {
			toast({ title: message })
			onSent()
		},
	})
	return (
		<Form
			key={user?.email}
			act={isChanged ? 'Save and send the test' : 'Send the test'}
			onSubmit={(values) => mutate(values.text(field))}
			isBusy={isPending}
			error={error}
		>
			<TextField
				name={field}
				label="Address"
				type="email"
				error={error}
				defaultValue={user?.email}
				hint="If a contact has this address, the test shows their data. It is not tracked or counted."
			/>
		</Form>
	)
}
