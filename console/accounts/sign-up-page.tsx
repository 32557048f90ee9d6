import { useMutation, useQueryClient } from '@tanstack/react-query'
import { createLazyRoute, Link, useNavigate } from '@tanstack/react-router'
import { ownApi } from '../client.ts'
import { TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { AccountFrame } from './account-frame.tsx'

export const page = createLazyRoute('/console/sign-up')({ component: SignUpPage })

function SignUpPage() {
	const navigate = useNavigate()
	const queries = useQueryClient()
	const signUp = useMutation({
		mutationFn: (account: { email: string; password: string }) => ownApi.auth.signUp(account),
		onSuccess: async () => {
			queries.clear()
			await navigate({ to: '/' })
		},
	})
	return (
		<AccountFrame title="Sign up">
			<Form
				act="Create the account"
				isBusy={signUp.isPending}
				error={signUp.error}
				onSubmit={(values) =>
					signUp.mutate({ email: values.text('email'), password: values.exact('password') })
				}
			>
				<TextField
					name="email"
					label="Email address"
					type="email"
					autoComplete="username"
					autoFocus
					error={signUp.error}
				/>
				<TextField
					name="password"
					label="Password"
					type="password"
					autoComplete="new-password"
					hint="At least 8 characters"
					error={signUp.error}
				/>
			</Form>
			<p>
				Already have an account? <Link to="/console/log-in">Log in</Link>
			</p>
		</AccountFrame>
	)
}
