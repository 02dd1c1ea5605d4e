/**
 * Views of the window, in the order of the sidebar. Routes, keys, scopes of commands, the go-to line, pages of help and the view of a start
 * follow from this list; its component and its icon are named in app/views.ts.
 */

export interface ViewDefinition {
  readonly id: string
  readonly title: string
  /** Goes to it from everywhere; none: reached by the sidebar and the palette. */
  readonly key?: string
  /** A text behind its name filters it: `:jobs user=ana`. */
  readonly hasFilter?: true
  /** Tells nothing of the source on screen: it is there before the first sample, and never old with it. */
  readonly isApart?: true
  /** Stands below the others, or is no place of its own in the sidebar. */
  readonly place?: 'bottom' | 'foot' | 'none'
}

export const VIEWS = [
  { id: 'overview', title: 'Overview', key: '1' },
  { id: 'jobs', title: 'Jobs', key: '2', hasFilter: true },
  { id: 'rules', title: 'Rules', key: '3', hasFilter: true },
  { id: 'locks', title: 'Locks', key: '4', hasFilter: true },
  { id: 'metadata', title: 'Metadata QoS', key: '5', hasFilter: true },
  { id: 'tokens', title: 'Tokens', key: '6', hasFilter: true },
  { id: 'sandbox', title: 'Sandbox', key: '7', isApart: true },
  { id: 'history', title: 'History', key: '8' },
  { id: 'incidents', title: 'Incidents', key: '9', hasFilter: true, isApart: true },
  { id: 'connections', title: 'Connections', key: '0', isApart: true, place: 'bottom' },
  { id: 'papers', title: 'Papers', isApart: true, place: 'bottom' },
  { id: 'settings', title: 'Settings', key: ',', hasFilter: true, isApart: true, place: 'foot' },
  { id: 'help', title: 'Help', isApart: true, place: 'none' },
] as const satisfies readonly ViewDefinition[]

type View = (typeof VIEWS)[number]
export type ViewId = View['id']
/** Views with a command that goes to them; help has commands of its own. */
export type VisitedView = Exclude<ViewId, 'help'>
export type FilteredView = Extract<View, { hasFilter: true }>['id']

const all: readonly (ViewDefinition & { readonly id: ViewId })[] = VIEWS
/** Views of the list in the sidebar. */
export const sidebarViews = all.filter((v) => v.place === undefined || v.place === 'bottom')
export const visitedViews = all.filter((v): v is ViewDefinition & { readonly id: VisitedView } => v.id !== 'help')
export const filteredViews = all.filter((v) => v.hasFilter).map((v) => v.id) as readonly FilteredView[]
const apart: ReadonlySet<unknown> = new Set(all.filter((v) => v.isApart).map((v) => v.id))
export const isApart = (view: unknown): boolean => apart.has(view)
