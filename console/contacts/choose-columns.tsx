import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Checkbox } from '../parts/field.tsx'
import { listKeys } from '../parts/list-keys.ts'
import { Soft, Stack } from '../parts/page.tsx'
import { SearchBox } from '../parts/search-box.tsx'
import { useProject } from '../shell/projects.ts'
import styles from './contacts.module.css'
import { mostColumns, type useColumns } from './use-columns.ts'

const mostShown = 100

export function ChooseColumns({ keys, available, choose }: ReturnType<typeof useColumns>) {
	const { project } = useProject()
	const [isOpen, setOpen] = useState(false)
	const [search, setSearch] = useState('')
	const wanted = search.toLowerCase()
	const all = [...new Set([...keys, ...available])]
	const found = all.filter((key) => key.toLowerCase().includes(wanted))
	const isFull = keys.length >= mostColumns
	return (
		<>
			<Button onClick={() => setOpen(true)}>Columns</Button>
			<Dialog title="Columns from the data" isOpen={isOpen} onClose={() => setOpen(false)}>
				<Stack>
					{all.length > 10 && <SearchBox name="Field" value={search} onChange={setSearch} />}
					{all.length === 0 && <p>Contacts have no data yet.</p>}
					<div className={styles.choices} {...listKeys}>
						{found.slice(0, mostShown).map((key) => (
							<Checkbox
								key={key}
								label={key}
								checked={keys.includes(key)}
								disabled={isFull && !keys.includes(key)}
								onChange={({ target }) =>
									choose(target.checked ? [...keys, key] : keys.filter((one) => one !== key))
								}
							/>
						))}
					</div>
					<Soft>At most {mostColumns}. This browser remembers them.</Soft>
					<Link to="/console/$projectId/contacts/fields" params={{ projectId: project.id }}>
						All fields and their uses
					</Link>
				</Stack>
			</Dialog>
		</>
	)
}
