import { useQuery } from '@tanstack/react-query'
import { configQuery } from '../config.ts'
import { Button } from '../parts/button.tsx'
import { Fault } from '../parts/fault.tsx'
import { Notice } from '../parts/notice.tsx'
import styles from '../shell/shell.module.css'
import { userQuery } from './user.ts'
import { useVerification } from './verification.ts'

/** With a real mail provider nothing is sent until the owner's address is verified. */
export function Unverified() {
	const { data: config } = useQuery(configQuery)
	const { data: user } = useQuery({ ...userQuery, refetchOnWindowFocus: 'always' })
	const { send, isSending, answer, error } = useVerification()
	if (!user || user.emailVerified || !config || config.features.email.provider === 'local')
		return null
	return (
		<div className={styles.notice}>
			<Notice
				tone="warn"
				actions={
					!answer && (
						<Button isBusy={isSending} onClick={send}>
							Send the mail again
						</Button>
					)
				}
			>
				<p>
					Verify your email address: follow the link in our mail to {user.email}. Until then,
					projects that you own send no mail.
				</p>
				{answer && <p role="status">{answer}.</p>}
				<Fault error={error} />
			</Notice>
		</div>
	)
}
