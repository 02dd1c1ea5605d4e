/** Which view is on screen; in the hash, because the desktop shell serves one file. */
import { createRouter, createWebHashHistory } from 'vue-router'
import ConnectionsView from '../views/connections/ConnectionsView.vue'
import JobsView from '../views/jobs/JobsView.vue'
import LocksView from '../views/locks/LocksView.vue'
import MetadataView from '../views/metadata/MetadataView.vue'
import OverviewView from '../views/overview/OverviewView.vue'
import RulesView from '../views/rules/RulesView.vue'
import TokensView from '../views/tokens/TokensView.vue'

/** Views that nobody opens first; what they bring with them is loaded once the window has time. */
const later = {
  sandbox: () => import('../views/sandbox/SandboxView.vue'),
  history: () => import('../views/history/HistoryView.vue'),
  incidents: () => import('../views/incidents/IncidentsView.vue'),
  papers: () => import('../views/papers/PapersView.vue'),
  settings: () => import('../views/settings/SettingsView.vue'),
  help: () => import('../views/help/HelpView.vue'),
}
/** Loads them one after the other, so that switching to one is as fast as to any other. */
export function loadViewsWhenIdle(): void {
  const waiting = Object.values(later)
  const next = (): void => {
    // One that does not come is asked for again when it is opened.
    void waiting.shift()?.().then(whenIdle, whenIdle)
  }
  const whenIdle = (): void => void requestIdleCallback(next, { timeout: 5000 })
  whenIdle()
}

export const router = createRouter({
  history: createWebHashHistory(),
  routes: [
    { path: '/overview', name: 'overview', component: OverviewView },
    { path: '/jobs', name: 'jobs', component: JobsView },
    { path: '/rules', name: 'rules', component: RulesView },
    { path: '/locks', name: 'locks', component: LocksView },
    { path: '/metadata', name: 'metadata', component: MetadataView },
    { path: '/tokens', name: 'tokens', component: TokensView },
    { path: '/sandbox', name: 'sandbox', component: later.sandbox },
    { path: '/history', name: 'history', component: later.history },
    { path: '/incidents', name: 'incidents', component: later.incidents },
    { path: '/connections', name: 'connections', component: ConnectionsView },
    { path: '/papers', name: 'papers', component: later.papers },
    { path: '/settings', name: 'settings', component: later.settings },
    { path: '/help/:page?', name: 'help', component: later.help },
    { path: '/:rest(.*)*', redirect: '/overview' },
  ],
})
