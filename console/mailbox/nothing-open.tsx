import { createLazyRoute } from '@tanstack/react-router'
import styles from './mailbox.module.css'

export const page = createLazyRoute('/console/$projectId/mailbox/')({ component: NothingOpen })

function NothingOpen() {
	return (
		<div className={styles.hint}>
			<p>Choose a mail to read it.</p>
			<p>
				<kbd>j</kbd> and <kbd>k</kbd> or the arrow keys move through the list, <kbd>Enter</kbd>{' '}
				opens, <kbd>Delete</kbd> deletes, <kbd>/</kbd> searches.
			</p>
		</div>
	)
}
