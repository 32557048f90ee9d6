import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Project } from '../../client/index.ts'
import { Notice } from '../parts/notice.tsx'
import { useProject } from './projects.ts'
import styles from './shell.module.css'

/** A disabled project can be read and not changed: why, and the way out. */
export function Disabled() {
	const { project } = useProject()
	if (!project.disabledReason) return null
	return (
		<div className={styles.notice}>
			<Notice tone="bad">
				<p>This project is disabled: it sends no mail, and its data can only be read.</p>
				<p>{waysOut(project)[project.disabledReason]}</p>
			</Notice>
		</div>
	)
}

const waysOut = ({ id }: Project): Record<NonNullable<Project['disabledReason']>, ReactNode> => ({
	PAYMENT_FAILED: (
		<>
			A payment failed. Once the open invoice is paid, the project is enabled by itself.{' '}
			<Link to="/console/$projectId/settings/billing" params={{ projectId: id }}>
				Billing
			</Link>
		</>
	),
	EMAIL_REPUTATION: (
		<>
			Too much of its mail bounced or was reported as spam. Ask the operator of this installation.{' '}
			<Link to="/console/$projectId/settings/reputation" params={{ projectId: id }}>
				Reputation
			</Link>
		</>
	),
	MANUAL: 'The operator of this installation disabled it. Ask them why.',
})
