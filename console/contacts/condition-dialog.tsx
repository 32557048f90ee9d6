import { useState } from 'react'
import { Link } from '@tanstack/react-router'
import type { Condition } from '../../client/index.ts'
import { blankCondition, isComplete } from '../conditions/condition.ts'
import { ConditionBuilder } from '../conditions/condition-builder.tsx'
import { ConditionPreview } from '../conditions/condition-preview.tsx'
import { Button, buttonClass } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Row, Stack } from '../parts/page.tsx'
import { useProject } from '../shell/projects.ts'
import styles from './contacts.module.css'

interface Props {
	condition: Condition | undefined
	onApply: (condition: Condition) => void
	onClose: () => void
}

/** Builds the condition of a list; it can be kept as a segment. */
export function ConditionDialog({ condition: given, onApply, onClose }: Props) {
	const { project } = useProject()
	const [condition, setCondition] = useState(given ?? blankCondition)
	const isWhole = isComplete(condition)
	return (
		<Dialog title="Contacts that meet a condition" isOpen isWide onClose={onClose}>
			<Stack>
				<div className={styles.building}>
					<ConditionBuilder value={condition} onChange={setCondition} />
					<ConditionPreview condition={condition} />
				</div>
				<Row>
					<Button kind="primary" disabled={!isWhole} onClick={() => onApply(condition)}>
						Show these contacts
					</Button>
					{isWhole && (
						<Link
							to="/console/$projectId/segments/new"
							params={{ projectId: project.id }}
							search={{ condition }}
							className={buttonClass()}
						>
							Make it a segment
						</Link>
					)}
				</Row>
			</Stack>
		</Dialog>
	)
}
