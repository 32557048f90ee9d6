import { useMutation, useQuery } from '@tanstack/react-query'
import { createLazyRoute, Link } from '@tanstack/react-router'
import { ownApi } from '../client.ts'
import { Badge } from '../parts/badge.tsx'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Facts } from '../parts/figures.tsx'
import { Row } from '../parts/page.tsx'
import { AccountFrame } from './account-frame.tsx'
import { useLogOut } from './log-out.ts'
import { userQuery } from './user.ts'
import { useVerification } from './verification.ts'

export const page = createLazyRoute('/console/account')({ component: AccountPage })

function AccountPage() {
	const { data: user, error } = useQuery(userQuery)
	return (
		<AccountFrame title="Your account">
			<Fault error={error} />
			{user && (
				<>
					<Facts
						facts={[
							['Email address', user.email],
							[
								'Verified',
								user.emailVerified ? (
									<Badge tone="good">Yes</Badge>
								) : (
									<Badge tone="warn">Not yet</Badge>
								),
							],
						]}
					/>
					{!user.emailVerified && <Verification />}
					<NewPassword email={user.email} />
				</>
			)}
			<LogOut />
			<p>
				<Link to="/">Back to the project</Link>
			</p>
		</AccountFrame>
	)
}

function Verification() {
	const { send, isSending, answer, error } = useVerification()
	return (
		<>
			<p>Follow the link in our mail. It works once, for an hour.</p>
			<Fault error={error} />
			{answer ? (
				<p role="status">{answer}.</p>
			) : (
				<Row>
					<Button isBusy={isSending} onClick={send}>
						Send the mail again
					</Button>
				</Row>
			)}
		</>
	)
}

function NewPassword({ email }: { email: string }) {
	const request = useMutation({ mutationFn: () => ownApi.auth.requestPasswordReset({ email }) })
	if (request.isSuccess)
		return <p role="status">A link to set a new password is on its way to {email}.</p>
	return (
		<>
			<p>A new password is set through a link in a mail. It ends all your sessions.</p>
			<Fault error={request.error} />
			<Row>
				<Button isBusy={request.isPending} onClick={() => request.mutate()}>
					Mail me a link to set a new password
				</Button>
			</Row>
		</>
	)
}

function LogOut() {
	const { logOut, isBusy } = useLogOut()
	return (
		<Row>
			<Button isBusy={isBusy} onClick={logOut}>
				Log out
			</Button>
		</Row>
	)
}
