/** The views of the window in the order of their keys. Those without a component are named and not yet there. */
import {
  BookOpenText,
  Coins,
  FlaskConical,
  FolderTree,
  History,
  LayoutDashboard,
  ListOrdered,
  ListTree,
  Lock,
  NotebookPen,
  Plug,
} from '@lucide/vue'
import type { Component } from 'vue'

export interface ViewEntry {
  readonly id: string
  readonly title: string
  /** Empty = reached by the sidebar and the palette only. */
  readonly key: string
  readonly icon: Component
  /** Whether it can be opened. */
  readonly isHere: boolean
}

export const views: readonly ViewEntry[] = [
  { id: 'overview', title: 'Overview', key: '1', icon: LayoutDashboard, isHere: true },
  { id: 'jobs', title: 'Jobs', key: '2', icon: ListTree, isHere: true },
  { id: 'rules', title: 'Rules', key: '3', icon: ListOrdered, isHere: true },
  { id: 'locks', title: 'Locks', key: '4', icon: Lock, isHere: true },
  { id: 'metadata', title: 'Metadata QoS', key: '5', icon: FolderTree, isHere: true },
  { id: 'tokens', title: 'Tokens', key: '6', icon: Coins, isHere: true },
  { id: 'sandbox', title: 'Sandbox', key: '7', icon: FlaskConical, isHere: true },
  { id: 'history', title: 'History', key: '8', icon: History, isHere: true },
  { id: 'incidents', title: 'Incidents', key: '9', icon: NotebookPen, isHere: true },
  { id: 'connections', title: 'Connections', key: '0', icon: Plug, isHere: true },
  { id: 'papers', title: 'Papers', key: '', icon: BookOpenText, isHere: true },
]
