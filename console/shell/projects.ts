import { queryOptions } from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { Project, Tempost } from '../../client/index.ts'
import { ownApi } from '../client.ts'

export const projectsQuery = queryOptions({
	queryKey: ['projects'],
	queryFn: () => ownApi.projects.list(),
	staleTime: 60_000,
})

export interface Current {
	project: Project
	/** The client for this project. */
	api: Tempost
}

export const CurrentProject = createContext<Current | null>(null)

/** The project of the page, and the client for it. */
export function useProject(): Current {
	const current = useContext(CurrentProject)
	if (!current) throw new Error('This page is not a page of a project')
	return current
}

const ranks = { MEMBER: 0, ADMIN: 1, OWNER: 2 }
export const mayAct = ({ role }: Project, needed: keyof typeof ranks) =>
	ranks[role] >= ranks[needed]

const remembered = 'tempost.project'
export const lastProject = () => localStorage.getItem(remembered)
export const rememberProject = (id: string) => localStorage.setItem(remembered, id)
