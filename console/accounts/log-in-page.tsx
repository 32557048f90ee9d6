import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { createLazyRoute, getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ownApi } from '../client.ts'
import { configQuery } from '../config.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { TextField } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Row } from '../parts/page.tsx'
import { AccountFrame } from './account-frame.tsx'

export const page = createLazyRoute('/console/log-in')({ component: LogInPage })
const route = getRouteApi('/console/log-in')

function LogInPage() {
	const { next } = route.useSearch()
	const { data: config } = useQuery(configQuery)
	const navigate = useNavigate()
	const queries = useQueryClient()
	const [email, setEmail] = useState('')
	const logIn = useMutation({
		mutationFn: (password: string) => ownApi.auth.logIn({ email, password }),
		onSuccess: async () => {
			queries.clear()
			await navigate({ to: (next ?? '/') as '/' })
		},
	})
	return (
		<AccountFrame title="Log in">
			<Form
				act="Log in"
				isBusy={logIn.isPending}
				error={logIn.error}
				onSubmit={(values) => logIn.mutate(values.exact('password'))}
			>
				<TextField
					name="email"
					label="Email address"
					type="email"
					autoComplete="username"
					autoFocus
					value={email}
					onChange={(event) => setEmail(event.target.value)}
				/>
				<TextField
					name="password"
					label="Password"
					type="password"
					autoComplete="current-password"
				/>
			</Form>
			<Providers />
			<ForgottenPassword email={email} />
			{!config?.features.signup.signupsDisabled && (
				<p>
					No account yet? <Link to="/console/sign-up">Sign up</Link>
				</p>
			)}
		</AccountFrame>
	)
}

function Providers() {
	const { data } = useQuery({
		queryKey: ['oauth'],
		queryFn: () => ownApi.auth.getOauthConfig(),
	})
	const offered = (['google', 'github'] as const).filter((name) => data?.[name])
	if (offered.length === 0) return null
	return (
		<Row>
			{offered.map((name) => (
				<a key={name} className={buttonClass()} href={`/auth/${name}`}>
					Continue with {name === 'google' ? 'Google' : 'GitHub'}
				</a>
			))}
		</Row>
	)
}

function ForgottenPassword({ email }: { email: string }) {
	const request = useMutation({ mutationFn: () => ownApi.auth.requestPasswordReset({ email }) })
	if (request.isSuccess)
		return (
			<p role="status">If {email} has an account, a link to set a new password is on its way.</p>
		)
	return (
		<>
			<Fault error={request.error} />
			<Row>
				<Button
					kind="quiet"
					disabled={!email.includes('@')}
					isBusy={request.isPending}
					onClick={() => request.mutate()}
				>
					Mail me a link to set a new password
				</Button>
			</Row>
		</>
	)
}
