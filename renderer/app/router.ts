/** Which view is on screen; in the hash, because the desktop shell serves one file. */
import { createRouter, createWebHashHistory } from 'vue-router'
import ConnectionsView from '../views/connections/ConnectionsView.vue'
import HistoryView from '../views/history/HistoryView.vue'
import JobsView from '../views/jobs/JobsView.vue'
import LocksView from '../views/locks/LocksView.vue'
import MetadataView from '../views/metadata/MetadataView.vue'
import OverviewView from '../views/overview/OverviewView.vue'
import PapersView from '../views/papers/PapersView.vue'
import RulesView from '../views/rules/RulesView.vue'
import SandboxView from '../views/sandbox/SandboxView.vue'
import TokensView from '../views/tokens/TokensView.vue'

export const router = createRouter({
  history: createWebHashHistory(),
  routes: [
    { path: '/overview', name: 'overview', component: OverviewView },
    { path: '/jobs', name: 'jobs', component: JobsView },
    { path: '/rules', name: 'rules', component: RulesView },
    { path: '/locks', name: 'locks', component: LocksView },
    { path: '/metadata', name: 'metadata', component: MetadataView },
    { path: '/tokens', name: 'tokens', component: TokensView },
    { path: '/sandbox', name: 'sandbox', component: SandboxView },
    { path: '/history', name: 'history', component: HistoryView },
    { path: '/connections', name: 'connections', component: ConnectionsView },
    { path: '/papers', name: 'papers', component: PapersView },
    { path: '/:rest(.*)*', redirect: '/overview' },
  ],
})
