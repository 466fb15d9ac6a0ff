//! The state that all requests share.

use std::sync::{Arc, Mutex};

use lanesum_catalog::Catalog;
use tokio::sync::Semaphore;

use crate::web::daemon::{Daemon, Settings};
use crate::web::login::Login;

/// The state of the page.
pub struct App {
    pub settings: Settings,
    pub daemon: Arc<dyn Daemon>,
    pub login: Login,
    /// A connection that notices writes to the catalog.
    pub watch: Mutex<Option<Catalog>>,
    /// One permit for each browser that may follow changes.
    pub listeners: Arc<Semaphore>,
}
