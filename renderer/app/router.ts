/** Which view is on screen; in the hash, because the desktop shell serves one file. */
import { createRouter, createWebHashHistory } from 'vue-router'
import JobsView from '../views/jobs/JobsView.vue'
import MetadataView from '../views/metadata/MetadataView.vue'
import OverviewView from '../views/overview/OverviewView.vue'
import PapersView from '../views/papers/PapersView.vue'
import RulesView from '../views/rules/RulesView.vue'

export const router = createRouter({
  history: createWebHashHistory(),
  routes: [
    { path: '/overview', name: 'overview', component: OverviewView },
    { path: '/jobs', name: 'jobs', component: JobsView },
    { path: '/rules', name: 'rules', component: RulesView },
    { path: '/metadata', name: 'metadata', component: MetadataView },
    { path: '/papers', name: 'papers', component: PapersView },
    { path: '/:rest(.*)*', redirect: '/overview' },
  ],
})
