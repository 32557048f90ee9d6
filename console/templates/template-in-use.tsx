import { Link } from '@tanstack/react-router'
import type { Template } from '../../client/index.ts'
import { inWords } from '../parts/badge.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Fault } from '../parts/fault.tsx'
import { Soft, Stack } from '../parts/page.tsx'
import { useProject } from '../shell/projects.ts'
import styles from './template-in-use.module.css'
import type { Blocking } from './use-template-acts.ts'

interface Props {
	template: Pick<Template, 'name'>
	uses: Blocking | null
	error: unknown
	onClose: () => void
}

/** Says why an act on a template was not done. */
export const TemplateInUse = ({ template: { name }, uses, error, onClose }: Props) => (
	<Dialog
		title={uses ? `“${name}” is in use` : 'That did not work'}
		isOpen={uses !== null || Boolean(error)}
		onClose={onClose}
	>
		<Fault error={error} />
		{uses && <Uses {...uses} />}
	</Dialog>
)

function Uses({ campaigns, workflowSteps }: Blocking) {
	const { project } = useProject()
	const here = `/console/${project.id}`
	return (
		<Stack>
			<p>It can be deleted when these no longer use it. Choose another template there first.</p>
			<ul className={styles.uses}>
				{campaigns.map((campaign) => (
					<li key={campaign.id}>
						<Link to={`${here}/campaigns/${campaign.id}` as '/'}>{campaign.name}</Link>{' '}
						<Soft>campaign, {inWords(campaign.status).toLowerCase()}</Soft>
					</li>
				))}
				{workflowSteps.map((step) => (
					<li key={step.id}>
						<Link to={`${here}/workflows/${step.workflowId}` as '/'}>{step.workflowName}</Link>{' '}
						<Soft>workflow, step “{step.name}”</Soft>
					</li>
				))}
			</ul>
		</Stack>
	)
}
