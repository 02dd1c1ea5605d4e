/** Component and icon of each view. The first view is part of the initial bundle; the others are loaded when idle. */
import {
  BookOpen,
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
  Settings,
} from '@lucide/vue'
import type { Component } from 'vue'
import type { RouteComponent } from 'vue-router'
import type { ViewId } from '../commands/views.ts'
import OverviewView from '../views/overview/OverviewView.vue'

interface ViewParts {
  readonly component: RouteComponent | (() => Promise<RouteComponent>)
  readonly icon: Component
}

export const viewParts: Readonly<Record<ViewId, ViewParts>> = {
  overview: { component: OverviewView, icon: LayoutDashboard },
  jobs: { component: () => import('../views/jobs/JobsView.vue'), icon: ListTree },
  rules: { component: () => import('../views/rules/RulesView.vue'), icon: ListOrdered },
  locks: { component: () => import('../views/locks/LocksView.vue'), icon: Lock },
  metadata: { component: () => import('../views/metadata/MetadataView.vue'), icon: FolderTree },
  tokens: { component: () => import('../views/tokens/TokensView.vue'), icon: Coins },
  sandbox: { component: () => import('../views/sandbox/SandboxView.vue'), icon: FlaskConical },
  history: { component: () => import('../views/history/HistoryView.vue'), icon: History },
  incidents: { component: () => import('../views/incidents/IncidentsView.vue'), icon: NotebookPen },
  connections: { component: () => import('../views/connections/ConnectionsView.vue'), icon: Plug },
  papers: { component: () => import('../views/papers/PapersView.vue'), icon: BookOpenText },
  settings: { component: () => import('../views/settings/SettingsView.vue'), icon: Settings },
  help: { component: () => import('../views/help/HelpView.vue'), icon: BookOpen },
}
