/**
 * Views of the window, in the order of the sidebar. Routes, keys, scopes of commands, the go-to line, help pages and
 * the start view are derived from this list; components and icons are in app/views.ts.
 */

export interface ViewDefinition {
  readonly id: string
  readonly title: string
  /** Global key that opens it; none: reached by the sidebar and the palette. */
  readonly key?: string
  /** Accepts a filter after its name: `:jobs user=ana`. */
  readonly hasFilter?: true
  /** Independent of the source: available before the first sample, and never stale. */
  readonly isApart?: true
  /** Placed at the bottom of the sidebar, or not listed in it. */
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
/** Views with a command that opens them; help has commands of its own. */
export type VisitedView = Exclude<ViewId, 'help'>
export type FilteredView = Extract<View, { hasFilter: true }>['id']

const all: readonly (ViewDefinition & { readonly id: ViewId })[] = VIEWS
/** Views listed in the sidebar. */
export const sidebarViews = all.filter((v) => v.place === undefined || v.place === 'bottom')
export const visitedViews = all.filter((v): v is ViewDefinition & { readonly id: VisitedView } => v.id !== 'help')
export const filteredViews = all.filter((v) => v.hasFilter).map((v) => v.id) as readonly FilteredView[]
const apart: ReadonlySet<unknown> = new Set(all.filter((v) => v.isApart).map((v) => v.id))
export const isApart = (view: unknown): boolean => apart.has(view)
