//! What all answers are made of.

use std::sync::{Arc, Mutex};

use lanesum_catalog::Catalog;
use tokio::sync::Semaphore;

use crate::daemon::{Daemon, Settings};
use crate::login::Login;

/// What the page is made of.
pub struct App {
    pub settings: Settings,
    pub daemon: Arc<dyn Daemon>,
    pub login: Login,
    /// Tells whether the catalog is another.
    pub watch: Mutex<Option<Catalog>>,
    /// How many browsers may be told of changes still.
    pub listeners: Arc<Semaphore>,
}
